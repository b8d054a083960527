//! Servers in between: just enough of HTTP and SOCKS to let Git through, for user `me` with
//! password `secret`.

use std::{
    io::{self, Read, Write},
    net::{Shutdown, TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Http,
    Socks5,
}

/// A proxy that lasts as long as the test.
pub(crate) struct Proxy {
    pub(crate) url: String,
    count: Arc<AtomicUsize>,
}

impl Proxy {
    /// How many connections it has made.
    pub(crate) fn count(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }
}

pub(crate) fn start(kind: Kind) -> Proxy {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port on loopback");
    let port = listener.local_addr().expect("an address").port();
    let scheme = match kind {
        Kind::Http => "http",
        Kind::Socks5 => "socks5",
    };
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let count = Arc::clone(&counted);
            thread::spawn(move || {
                let (client, server, first) = match kind {
                    Kind::Http => http(stream)?,
                    Kind::Socks5 => socks5(stream)?,
                };
                count.fetch_add(1, Ordering::Relaxed);
                relay(client, server, &first)
            });
        }
    });
    Proxy { url: format!("{scheme}://127.0.0.1:{port}"), count }
}

/// The client, the server it asked for, and what to send there first.
type Joined = (TcpStream, TcpStream, Vec<u8>);

fn http(mut client: TcpStream) -> io::Result<Joined> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        client.read_exact(&mut byte)?;
        head.push(byte[0]);
    }
    let text = String::from_utf8_lossy(&head).into_owned();
    let authorization = "proxy-authorization: basic bwu6c2vjcmv0";
    if !text.to_ascii_lowercase().contains(authorization) {
        client.write_all(
            b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\
              Proxy-Authenticate: Basic realm=\"proxy\"\r\nConnection: close\r\n\r\n",
        )?;
        return Err(io::Error::other("not authorised"));
    }
    let target = text.split(' ').nth(1).unwrap_or_default().to_owned();
    if text.starts_with("CONNECT ") {
        let server = TcpStream::connect(target)?;
        client.write_all(b"HTTP/1.1 200 OK\r\n\r\n")?;
        return Ok((client, server, Vec::new()));
    }
    let rest = target.trim_start_matches("http://");
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let server = TcpStream::connect(host)?;
    Ok((client, server, text.replacen(&target, path, 1).into_bytes()))
}

fn socks5(mut client: TcpStream) -> io::Result<Joined> {
    let methods = read(&mut client, 2)?[1];
    read(&mut client, methods)?;
    client.write_all(&[5, 2])?;
    let length = read(&mut client, 2)?[1];
    let user = read(&mut client, length)?;
    let length = read(&mut client, 1)?[0];
    let password = read(&mut client, length)?;
    if (user.as_slice(), password.as_slice()) != (b"me", b"secret") {
        client.write_all(&[1, 1])?;
        return Err(io::Error::other("not authorised"));
    }
    client.write_all(&[1, 0])?;
    let is_number = read(&mut client, 4)?[3] == 1;
    let host = if is_number {
        read(&mut client, 4)?.iter().map(u8::to_string).collect::<Vec<_>>().join(".")
    } else {
        let length = read(&mut client, 1)?[0];
        String::from_utf8_lossy(&read(&mut client, length)?).into_owned()
    };
    let port = read(&mut client, 2)?;
    let server = TcpStream::connect((host.as_str(), u16::from_be_bytes([port[0], port[1]])))?;
    client.write_all(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0])?;
    Ok((client, server, Vec::new()))
}

fn read(client: &mut TcpStream, count: u8) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; usize::from(count)];
    client.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// Carries bytes both ways until both are silent.
fn relay(client: TcpStream, server: TcpStream, first: &[u8]) -> io::Result<()> {
    let (mut from_client, mut to_server) = (client.try_clone()?, server.try_clone()?);
    to_server.write_all(first)?;
    let there = thread::spawn(move || {
        let _ = io::copy(&mut from_client, &mut to_server);
        let _ = to_server.shutdown(Shutdown::Write);
    });
    let (mut from_server, mut to_client) = (server, client);
    let _ = io::copy(&mut from_server, &mut to_client);
    let _ = to_client.shutdown(Shutdown::Both);
    let _ = there.join();
    Ok(())
}
