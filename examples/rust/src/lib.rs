//! Reads temperatures. A missing measurement is taken for a number.

/// The mean of the measurements in a line such as `20.5,21,19.5`.
pub fn mean(line: &str) -> f64 {
    let mut sum = 0.0;
    let mut count = 0;
    for field in line.split(',') {
        let value: f64 = field.trim().parse().unwrap(); // BUG
        sum += value;
        count += 1;
    }
    sum / f64::from(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_lines() {
        assert_eq!(mean("20, 22"), 21.0);
    }

    #[test]
    fn lines_with_gaps() {
        assert_eq!(mean("20,,22"), 21.0);
    }
}
