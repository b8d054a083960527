//! Addresses and ranges of the network, read as leniently as the server does.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use flumen_fields::Path;

use super::report::Report;

/// Reads an address. Leading zeros are allowed in the parts of the old form.
pub(crate) fn parse_ip(text: &str) -> Option<IpAddr> {
    if text.contains(':') {
        let (head, tail) = match text.rfind('.') {
            Some(_) => text.split_at(text.rfind(':')? + 1),
            None => (text, ""),
        };
        let strict = match tail {
            "" => head.to_owned(),
            tail => format!("{head}{}", parse_v4(tail)?),
        };
        let address: Ipv6Addr = strict.parse().ok()?;
        return Some(address.to_ipv4_mapped().map_or(IpAddr::V6(address), IpAddr::V4));
    }
    parse_v4(text).map(IpAddr::V4)
}

fn parse_v4(text: &str) -> Option<Ipv4Addr> {
    let mut bytes = [0_u8; 4];
    let mut parts = text.split('.');
    for byte in &mut bytes {
        let part = parts.next()?;
        if part.is_empty() || !part.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        *byte = part.parse().ok()?;
    }
    parts.next().is_none().then(|| Ipv4Addr::from(bytes))
}

pub(crate) fn is_v6(text: &str) -> bool {
    matches!(parse_ip(text), Some(IpAddr::V6(_)))
}

/// Whether there are addresses of both families.
pub(super) fn is_dual_stack<'a>(addresses: impl Iterator<Item = &'a str>) -> bool {
    let (mut four, mut six) = (false, false);
    for address in addresses {
        match parse_ip(address) {
            Some(IpAddr::V6(_)) => six = true,
            Some(IpAddr::V4(_)) => four = true,
            None => return false,
        }
    }
    four && six
}

/// A range: its address as written, and how many bits are fixed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) address: IpAddr,
    pub(crate) bits: u32,
}

impl Range {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (address, bits) = text.split_once('/')?;
        let mapped = address.contains(':');
        let address = parse_ip(address)?;
        if bits.is_empty() || bits.len() > 3 || !bits.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let mut bits: u32 = bits.parse().ok()?;
        let limit = match (address, mapped) {
            (IpAddr::V4(_), true) => {
                if bits > 128 {
                    return None;
                }
                bits = bits.saturating_sub(96);
                32
            }
            (IpAddr::V4(_), false) => 32,
            (IpAddr::V6(_), _) => 128,
        };
        (bits <= limit).then_some(Self { address, bits })
    }

    fn number(address: IpAddr) -> u128 {
        match address {
            IpAddr::V4(address) => u128::from(u32::from(address)) << 96,
            IpAddr::V6(address) => u128::from(address),
        }
    }

    fn mask(self) -> u128 {
        u128::MAX.checked_shl(128 - self.bits).unwrap_or(0)
    }

    /// The range with the bits after its length set to zero.
    #[must_use]
    pub(crate) fn masked(self) -> Self {
        let number = Self::number(self.address) & self.mask();
        let address = match self.address {
            IpAddr::V4(_) => {
                IpAddr::V4(Ipv4Addr::from(u32::try_from(number >> 96).unwrap_or_default()))
            }
            IpAddr::V6(_) => IpAddr::V6(Ipv6Addr::from(number)),
        };
        Self { address, bits: self.bits }
    }

    pub(crate) fn contains(self, other: IpAddr) -> bool {
        self.address.is_ipv4() == other.is_ipv4()
            && Self::number(self.address) & self.mask() == Self::number(other) & self.mask()
    }
}

impl std::fmt::Display for Range {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.address, self.bits)
    }
}

impl Report {
    /// An address of a field that has accepted other forms in the past.
    pub(super) fn ip(&mut self, at: &Path<'_>, value: &str, old: &[&str]) -> bool {
        let valid = old.contains(&value) || parse_ip(value).is_some();
        if !valid {
            self.invalid(
                at,
                value,
                "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)",
            );
        }
        valid
    }

    pub(super) fn cidr(&mut self, at: &Path<'_>, value: &str, old: &[&str]) -> bool {
        let valid = old.contains(&value) || Range::parse(value).is_some();
        if !valid {
            self.invalid(
                at,
                value,
                "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)",
            );
        }
        valid
    }

    /// An address in its canonical form.
    pub(super) fn strict_ip(&mut self, at: &Path<'_>, value: &str) -> Option<IpAddr> {
        if !self.ip(at, value, &[]) {
            return None;
        }
        let lenient = parse_ip(value)?;
        match value.parse::<IpAddr>() {
            Err(_) => self.invalid(at, value, "must not have leading 0s"),
            Ok(_) if value.contains(':') && lenient.is_ipv4() => {
                self.invalid(at, value, "must not be an IPv4-mapped IPv6 address");
            }
            Ok(_) if lenient.to_string() != value => {
                self.invalid(at, value, format!("must be in canonical form (\"{lenient}\")"));
            }
            Ok(_) => return Some(lenient),
        }
        None
    }

    /// A range in its canonical form.
    pub(super) fn strict_cidr(&mut self, at: &Path<'_>, value: &str) -> Option<Range> {
        if !self.cidr(at, value, &[]) {
            return None;
        }
        let range = Range::parse(value)?;
        let (written, bits) = value.split_once('/')?;
        if written.parse::<IpAddr>().is_err() || (bits.len() > 1 && bits.starts_with('0')) {
            self.invalid(at, value, "must not have leading 0s in IP or prefix length");
        } else if written.contains(':') && range.address.is_ipv4() {
            self.invalid(at, value, "must not have an IPv4-mapped IPv6 address");
        } else if range.masked() != range {
            self.invalid(at, value, "must not have bits set beyond the prefix length");
        } else if range.to_string() != value {
            self.invalid(at, value, format!("must be in canonical form (\"{range}\")"));
        } else {
            return Some(range);
        }
        None
    }

    /// An address that traffic can be sent to.
    pub(super) fn endpoint_ip(&mut self, at: &Path<'_>, value: &str) {
        let Some(address) = parse_ip(value) else {
            return self.invalid(at, value, "must be a valid IP address");
        };
        let (link_local, multicast) = match address {
            IpAddr::V4(four) => (four.is_link_local(), four.octets()[..3] == [224, 0, 0]),
            IpAddr::V6(six) => {
                let first = six.segments()[0];
                (first & 0xffc0 == 0xfe80, first & 0xff0f == 0xff02)
            }
        };
        if address.is_unspecified() {
            self.invalid(at, value, format!("may not be unspecified ({value})"));
        }
        if address.is_loopback() {
            self.invalid(at, value, "may not be in the loopback range (127.0.0.0/8, ::1/128)");
        }
        if link_local {
            let detail = "may not be in the link-local range (169.254.0.0/16, fe80::/10)";
            self.invalid(at, value, detail);
        }
        if multicast {
            let detail = "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)";
            self.invalid(at, value, detail);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Range, parse_ip};

    #[test]
    fn leading_zeros_are_read() {
        assert_eq!(parse_ip("010.001.0.1").map(|ip| ip.to_string()).as_deref(), Some("10.1.0.1"));
        assert_eq!(parse_ip("::ffff:1.2.3.4").map(|ip| ip.to_string()).as_deref(), Some("1.2.3.4"));
        for bad in ["x", "", "1.2.3", "1.2.3.4.5", "256.1.1.1", "::g"] {
            assert_eq!(parse_ip(bad), None, "{bad}");
        }
    }

    #[test]
    fn ranges_contain_addresses() {
        let range = Range::parse("10.1.2.3/8").expect("a range");
        assert_eq!(range.masked().to_string(), "10.0.0.0/8");
        assert!(parse_ip("10.200.0.1").is_some_and(|ip| range.contains(ip)));
        assert!(parse_ip("11.0.0.1").is_some_and(|ip| !range.contains(ip)));
        assert_eq!(Range::parse("10.0.0.0/33"), None);
        assert!(
            Range::parse("::/0")
                .is_some_and(|all| parse_ip("2001:db8::1").is_some_and(|ip| all.contains(ip)))
        );
    }
}
