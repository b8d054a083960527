//! The addresses that services can have.

use std::net::Ipv4Addr;

/// A range of IPv4 addresses for services.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServiceRange {
    pub(super) network: u32,
    length: u8,
}

impl Default for ServiceRange {
    fn default() -> Self {
        Self { network: u32::from(Ipv4Addr::new(10, 0, 0, 0)), length: 16 }
    }
}

impl std::str::FromStr for ServiceRange {
    type Err = String;

    /// As `10.0.0.0/16`. The range must have room for some services.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is no range of IPv4 addresses of 8 to 30 bits");
        let (address, length) = text.split_once('/').ok_or_else(wrong)?;
        let address: Ipv4Addr = address.parse().map_err(|_| wrong())?;
        let length: u8 = length.parse().map_err(|_| wrong())?;
        if !(8..=30).contains(&length) {
            return Err(wrong());
        }
        let mask = u32::MAX << (32 - u32::from(length));
        Ok(Self { network: u32::from(address) & mask, length })
    }
}

impl std::fmt::Display for ServiceRange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", Ipv4Addr::from(self.network), self.length)
    }
}

impl ServiceRange {
    pub(super) fn size(self) -> u32 {
        1 << (32 - u32::from(self.length))
    }

    pub(super) fn contains(self, address: Ipv4Addr) -> bool {
        let offset = u32::from(address).wrapping_sub(self.network);
        offset > 0 && offset < self.size() - 1
    }

    /// The address of the service of the server itself.
    pub(crate) fn first(self) -> Ipv4Addr {
        Ipv4Addr::from(self.network + 1)
    }
}
