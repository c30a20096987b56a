//! CRC-32 (the polynomial of zlib and Ethernet), enough to tell a damaged line from a whole one.

const TABLE: [u32; 256] = table();

const fn table() -> [u32; 256] {
    let mut table = [0; 256];
    let mut index = 0;
    while index < 256 {
        let mut value = index as u32;
        let mut bit = 0;
        while bit < 8 {
            value = if value & 1 == 1 { (value >> 1) ^ 0xEDB8_8320 } else { value >> 1 };
            bit += 1;
        }
        table[index] = value;
        index += 1;
    }
    table
}

/// The checksum of several pieces as if they were one.
pub(crate) fn checksum(pieces: &[&[u8]]) -> u32 {
    let mut value = !0;
    for piece in pieces {
        for byte in *piece {
            value = TABLE[((value ^ u32::from(*byte)) & 0xFF) as usize] ^ (value >> 8);
        }
    }
    !value
}

#[cfg(test)]
mod tests {
    use super::checksum;

    #[test]
    fn agrees_with_the_published_check_value() {
        assert_eq!(checksum(&[b"123456789"]), 0xCBF4_3926);
        assert_eq!(checksum(&[b"1234", b"", b"56789"]), 0xCBF4_3926);
        assert_eq!(checksum(&[]), 0);
    }
}
