//! Ports for servers that a test starts by number: those that restart where they were, and programs that cannot say
//! which free port they took.

use std::{
    collections::BTreeSet,
    hash::{BuildHasher as _, RandomState},
    io,
    net::{Ipv4Addr, SocketAddr, TcpListener},
    ops::Range,
};

use parking_lot::Mutex;
/// Below what systems give to outgoing connections and to listeners on port 0, so that neither takes the port
/// before the server does, or while it restarts.
const PORTS: Range<u16> = 12_000..30_000;

/// Returns a free port. A process gets each port once.
pub fn free_port() -> io::Result<u16> {
    static GIVEN: Mutex<BTreeSet<u16>> = Mutex::new(BTreeSet::new());
    // Held until the choice is made, so that no test sees the listener by which another one looks.
    let mut given = GIVEN.lock();
    let random = RandomState::new();
    let free = (0..PORTS.len()).find_map(|attempt| {
        let choice = random.hash_one(attempt) % u64::try_from(PORTS.len()).ok()?;
        let port = PORTS.start + u16::try_from(choice).ok()?;
        let is_free = !given.contains(&port) && TcpListener::bind(("127.0.0.1", port)).is_ok();
        is_free.then_some(port)
    });
    let port = free.ok_or_else(|| io::Error::other("there is no free port"))?;
    given.insert(port);
    Ok(port)
}

/// Returns an address on loopback with a free port.
///
/// # Panics
/// When there is none.
pub fn free_address() -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, free_port().expect("a free port")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_port_is_given_twice() {
        let ports: BTreeSet<u16> = (0..50).map(|_| free_port().expect("a free port")).collect();
        assert_eq!(ports.len(), 50);
        assert!(ports.iter().all(|port| PORTS.contains(port)));
    }
}
