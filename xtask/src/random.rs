//! Pseudo-random numbers from a seed, so that a run can be repeated.

/// SplitMix64.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Picks one of some values.
    pub fn of<'v, T>(&mut self, values: &'v [T]) -> Option<&'v T> {
        let place = self.next().checked_rem(values.len() as u64)?;
        values.get(place as usize)
    }
}
