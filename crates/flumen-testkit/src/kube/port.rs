//! Ports for servers that are restarted where they were.

use std::{
    hash::{BuildHasher as _, RandomState},
    io,
    net::TcpListener,
    ops::Range,
};

/// Below what systems give to outgoing connections, so that no client takes the port of a server
/// that is being restarted.
const PORTS: Range<u16> = 12_000..30_000;

/// A port that nobody listens on.
pub(super) fn free_port() -> io::Result<u16> {
    let random = RandomState::new();
    let free = (0..PORTS.len()).find_map(|attempt| {
        let choice = random.hash_one(attempt) % u64::try_from(PORTS.len()).ok()?;
        let port = PORTS.start + u16::try_from(choice).ok()?;
        TcpListener::bind(("127.0.0.1", port)).is_ok().then_some(port)
    });
    free.ok_or_else(|| io::Error::other("there is no free port"))
}
