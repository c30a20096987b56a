//! Which addresses are public.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Why an address is not dialled; `None` for public ones.
pub fn refusal(address: IpAddr) -> Option<&'static str> {
    match address {
        IpAddr::V4(address) => refusal_v4(address),
        IpAddr::V6(address) => refusal_v6(address),
    }
}

fn refusal_v4(address: Ipv4Addr) -> Option<&'static str> {
    let [a, b, c, d] = address.octets();
    match (a, b, c, d) {
        (127, ..) => Some("loopback"),
        (0, ..) => Some("unspecified"),
        (169, 254, ..) => Some("link-local or metadata"),
        (10, ..) | (192, 168, ..) | (172, 16..=31, ..) | (100, 64..=127, ..) => Some("private"),
        // The metadata services of clouds that do not use a link-local address.
        (168, 63, 129, 16) | (192, 0, 0, _) => Some("metadata"),
        (224..=239, ..) => Some("multicast"),
        (192, 0, 2, _) | (198, 18..=19, ..) | (198, 51, 100, _) | (203, 0, 113, _) | (240..=255, ..) => {
            Some("reserved")
        }
        _ => None,
    }
}

fn refusal_v6(address: Ipv6Addr) -> Option<&'static str> {
    if let Some(inner) = embedded(address) {
        return refusal_v4(inner).or(Some("an IPv4 address in IPv6 clothes"));
    }
    match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0] => Some("unspecified"),
        [0, 0, 0, 0, 0, 0, 0, 1] => Some("loopback"),
        [0xfc00..=0xfdff | 0xfec0..=0xfeff, ..] => Some("private"),
        [0xfe80..=0xfebf, ..] => Some("link-local"),
        [0xff00..=0xffff, ..] => Some("multicast"),
        // Global addresses all begin so; documentation and benchmarks have their places among them.
        [0x2001, 0x0db8 | 0x0002, ..] | [0x3fff, 0..=0x0fff, ..] => Some("reserved"),
        [0x2000..=0x3fff, ..] => None,
        _ => Some("reserved"),
    }
}

/// The IPv4 address in an IPv6 address of one of the forms that carry one.
fn embedded(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let from = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        Ipv4Addr::new(a, b, c, d)
    };
    match address.segments() {
        // `::` and `::1` are what they are; what else is that short is an IPv4 address.
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => None,
        // Compatible, mapped, translated, NAT64, 6to4, and Teredo, which is written inverted.
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low]
        | [0, 0, 0, 0, 0xffff, 0, high, low]
        | [0x64, 0xff9b, _, _, _, _, high, low]
        | [0x2002, high, low, ..] => Some(from(high, low)),
        [0x2001, 0, _, _, _, _, high, low] => Some(from(!high, !low)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn addresses_that_are_not_public_are_refused() {
        let refused = [
            "127.0.0.1",
            "127.255.255.254",
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.0.1",
            "100.64.0.1",
            "100.100.100.200",
            "169.254.169.254",
            "168.63.129.16",
            "192.0.0.192",
            "198.18.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:a9fe:a9fe",
            "::127.0.0.1",
            "::ffff:0:7f00:1",
            "64:ff9b::7f00:1",
            "64:ff9b:1::a00:1",
            "2002:7f00:1::",
            "2001:0:1:2:3:4:80ff:fffe",
            "fc00::1",
            "fd00:ec2::254",
            "fe80::1",
            "fec0::1",
            "ff02::1",
            "2001:db8::1",
            "3fff::1",
            "100::1",
        ];
        for text in refused {
            assert!(refusal(text.parse().unwrap()).is_some(), "{text}");
        }
        for text in
            ["93.184.216.34", "1.1.1.1", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "2a00:1450::1"]
        {
            assert_eq!(refusal(text.parse().unwrap()), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn an_ipv4_address_in_ipv6_clothes_is_never_dialled(bytes: [u8; 4]) {
            let address = Ipv4Addr::from(bytes);
            for clothes in [format!("::ffff:{address}"), format!("64:ff9b::{address}"), format!("::ffff:0:{address}")] {
                prop_assert!(refusal(clothes.parse().unwrap()).is_some());
            }
        }
    }
}
