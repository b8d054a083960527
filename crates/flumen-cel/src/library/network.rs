//! Addresses and networks.

use std::{fmt, net::IpAddr};

use super::{Opaque, count};
use crate::{Fault, Outcome, value::Value};

/// An address and how many of its first bits name a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cidr {
    address: IpAddr,
    prefix: u8,
}

impl Cidr {
    fn parse(text: &str) -> Option<Self> {
        let (address, prefix) = text.split_once('/')?;
        let is_number = prefix == "0"
            || prefix.bytes().all(|byte| byte.is_ascii_digit()) && !prefix.starts_with('0');
        let address = parse_ip(address)?;
        let prefix = prefix.parse().ok().filter(|_| is_number)?;
        (prefix <= width(address)).then_some(Self { address, prefix })
    }

    fn contains(self, address: IpAddr) -> bool {
        width(self.address) == width(address)
            && masked(address, self.prefix) == masked(self.address, self.prefix)
    }
}

impl fmt::Display for Cidr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.prefix)
    }
}

fn width(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

fn masked(address: IpAddr, prefix: u8) -> IpAddr {
    match address {
        IpAddr::V4(address) => {
            let mask = u32::MAX.checked_shl(32 - u32::from(prefix)).unwrap_or(0);
            IpAddr::V4((u32::from(address) & mask).into())
        }
        IpAddr::V6(address) => {
            let mask = u128::MAX.checked_shl(128 - u32::from(prefix)).unwrap_or(0);
            IpAddr::V6((u128::from(address) & mask).into())
        }
    }
}

/// No zones, and no IPv4 address in the clothes of an IPv6 one.
fn parse_ip(text: &str) -> Option<IpAddr> {
    let address: IpAddr = text.parse().ok()?;
    match address {
        IpAddr::V6(inner) if inner.to_ipv4_mapped().is_some() => None,
        other => Some(other),
    }
}

pub(super) fn apply<'a>(name: &str, args: &[Value<'a>]) -> Option<Outcome<'a>> {
    match (name, args) {
        ("isIP", [Value::Text(text)]) => Some(Ok(Value::Bool(parse_ip(text).is_some()))),
        ("ip", [Value::Text(text)]) => Some(read_ip(text).map(|ip| Opaque::Ip(ip).value())),
        ("ip.isCanonical", [Value::Text(text)]) => {
            Some(read_ip(text).map(|ip| Value::Bool(ip.to_string() == text.as_str())))
        }
        ("isCIDR", [Value::Text(text)]) => Some(Ok(Value::Bool(Cidr::parse(text).is_some()))),
        ("cidr", [Value::Text(text)]) => Some(read_cidr(text).map(|it| Opaque::Cidr(it).value())),
        (_, [Value::Opaque(first), rest @ ..]) => match first.as_ref() {
            Opaque::Ip(ip) => of_ip(name, *ip, rest),
            Opaque::Cidr(cidr) => of_cidr(name, *cidr, rest),
            _ => None,
        },
        _ => None,
    }
}

fn read_ip(text: &str) -> Result<IpAddr, Fault> {
    let problem = || {
        format!(
            "IP Address {text:?} parse error during conversion from string: ParseAddr({text:?}): unable to parse IP"
        )
    };
    parse_ip(text).ok_or_else(|| Fault::new(problem()))
}

fn read_cidr(text: &str) -> Result<Cidr, Fault> {
    Cidr::parse(text).ok_or_else(|| {
        let text = format!("netip.ParsePrefix({text:?}): no '/'");
        Fault::new(format!("network address parse error during conversion from string: {text}"))
    })
}

fn of_ip<'a>(name: &str, ip: IpAddr, rest: &[Value<'a>]) -> Option<Outcome<'a>> {
    if !rest.is_empty() {
        return None;
    }
    let is_link_local = match ip {
        IpAddr::V4(ip) => ip.is_link_local(),
        IpAddr::V6(ip) => ip.is_unicast_link_local(),
    };
    let is_link_local_multicast = match ip {
        IpAddr::V4(ip) => ip.octets()[..3] == [224, 0, 0],
        IpAddr::V6(ip) => ip.segments()[0] & 0xff0f == 0xff02,
    };
    let is_broadcast = matches!(ip, IpAddr::V4(ip) if ip.is_broadcast());
    Some(Ok(match name {
        "family" => Value::Int(if ip.is_ipv4() { 4 } else { 6 }),
        "isUnspecified" => Value::Bool(ip.is_unspecified()),
        "isLoopback" => Value::Bool(ip.is_loopback()),
        "isLinkLocalUnicast" => Value::Bool(is_link_local),
        "isLinkLocalMulticast" => Value::Bool(is_link_local_multicast),
        "isGlobalUnicast" => Value::Bool(
            !(ip.is_unspecified()
                || ip.is_loopback()
                || ip.is_multicast()
                || is_link_local
                || is_broadcast),
        ),
        "string" => Value::text(ip.to_string()),
        _ => return None,
    }))
}

fn of_cidr<'a>(name: &str, cidr: Cidr, rest: &[Value<'a>]) -> Option<Outcome<'a>> {
    let contains = |other: Cidr| other.prefix >= cidr.prefix && cidr.contains(other.address);
    Some(Ok(match (name, rest) {
        ("ip", []) => Opaque::Ip(cidr.address).value(),
        ("prefixLength", []) => count(cidr.prefix.into()),
        ("masked", []) => {
            let address = masked(cidr.address, cidr.prefix);
            Opaque::Cidr(Cidr { address, ..cidr }).value()
        }
        ("string", []) => Value::text(cidr.to_string()),
        ("containsIP", [Value::Text(text)]) => {
            return Some(read_ip(text).map(|ip| Value::Bool(cidr.contains(ip))));
        }
        ("containsCIDR", [Value::Text(text)]) => {
            return Some(read_cidr(text).map(|other| Value::Bool(contains(other))));
        }
        ("containsIP" | "containsCIDR", [Value::Opaque(other)]) => match other.as_ref() {
            Opaque::Ip(ip) if name == "containsIP" => Value::Bool(cidr.contains(*ip)),
            Opaque::Cidr(other) if name == "containsCIDR" => Value::Bool(contains(*other)),
            _ => return None,
        },
        _ => return None,
    }))
}
