//! A way to an ssh server, direct or through a proxy.

use std::io;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use crate::{Error, Proxy, url::SshUrl};

/// More is no answer of a proxy to a request for a tunnel.
const MAX_ANSWER: usize = 8 << 10;

/// Connects to a server.
pub(super) async fn open(url: &SshUrl, proxy: Option<&Proxy>) -> Result<TcpStream, Error> {
    let unreachable = |error: io::Error| Error::Unreachable {
        url: url.to_string(),
        reason: match proxy {
            Some(_) => format!("through the proxy: {error}"),
            None => error.to_string(),
        },
    };
    let target = (url.host.as_str(), url.port);
    let Some(proxy) = proxy else {
        return TcpStream::connect(target).await.map_err(unreachable);
    };
    let unusable = Error::Unusable { what: "the proxy, which is neither http nor socks5, for ssh" };
    let usual_port = match proxy.url.scheme() {
        "http" => 80,
        "socks5" => 1080,
        _ => return Err(unusable),
    };
    let Some(host) = proxy.url.host_str() else { return Err(unusable) };
    let place = (host.trim_matches(['[', ']']), proxy.url.port().unwrap_or(usual_port));
    let mut stream = TcpStream::connect(place).await.map_err(unreachable)?;
    let joined = match proxy.url.scheme() {
        "http" => connect(&mut stream, target, proxy).await,
        _ => socks5(&mut stream, target, proxy).await,
    };
    joined.map_err(unreachable)?;
    Ok(stream)
}

/// Asks an HTTP proxy for a tunnel.
async fn connect(stream: &mut TcpStream, target: (&str, u16), proxy: &Proxy) -> io::Result<()> {
    let (host, port) = target;
    let host = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
    let login = if proxy.username.is_empty() {
        String::new()
    } else {
        let pair = BASE64_STANDARD.encode(format!("{}:{}", proxy.username, proxy.password));
        format!("Proxy-Authorization: Basic {pair}\r\n")
    };
    let request = format!("CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n{login}\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    // What follows the answer is for ssh, so nothing may be read beyond it.
    while !answer.ends_with(b"\r\n\r\n") {
        if answer.len() >= MAX_ANSWER {
            return Err(io::Error::other("it does not answer as a proxy does"));
        }
        answer.push(stream.read_u8().await?);
    }
    let answer = String::from_utf8_lossy(&answer);
    match answer.split(' ').nth(1) {
        Some(status) if status.starts_with('2') => Ok(()),
        status => {
            let status = status.unwrap_or("none");
            Err(io::Error::other(format!("it answered with status {status}")))
        }
    }
}

/// Asks a SOCKS proxy for a tunnel, as RFC 1928 and RFC 1929 have it.
async fn socks5(stream: &mut TcpStream, target: (&str, u16), proxy: &Proxy) -> io::Result<()> {
    let refused = |what: &str| io::Error::other(what.to_owned());
    let length = |text: &str| u8::try_from(text.len()).map_err(|_| refused("a name is too long"));
    let (no_login, by_password) = (0, 2);
    let method = if proxy.username.is_empty() { no_login } else { by_password };
    stream.write_all(&[5, 1, method]).await?;
    let mut chosen = [0; 2];
    stream.read_exact(&mut chosen).await?;
    if chosen != [5, method] {
        return Err(refused("it wants another kind of login"));
    }
    if method == by_password {
        let mut login = vec![1];
        for text in [&proxy.username, &proxy.password] {
            login.push(length(text)?);
            login.extend_from_slice(text.as_bytes());
        }
        stream.write_all(&login).await?;
        let mut outcome = [0; 2];
        stream.read_exact(&mut outcome).await?;
        if outcome[1] != 0 {
            return Err(refused("it does not accept the login"));
        }
    }
    let (host, port) = target;
    let (connect, by_name) = (1, 3);
    let mut request = vec![5, connect, 0, by_name, length(host)?];
    request.extend_from_slice(host.as_bytes());
    request.extend_from_slice(&port.to_be_bytes());
    stream.write_all(&request).await?;
    let mut answer = [0; 4];
    stream.read_exact(&mut answer).await?;
    if answer[1] != 0 {
        return Err(refused(&format!("it answered with code {}", answer[1])));
    }
    // Its own address and port, which nobody needs.
    let rest = match answer[3] {
        1 => 4,
        4 => 16,
        _ => usize::from(stream.read_u8().await?),
    };
    stream.read_exact(&mut vec![0; rest + 2]).await?;
    Ok(())
}
