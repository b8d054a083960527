//! As much of HTTP as Git's clients use.

use std::{
    io::{self, BufRead, BufReader, Read},
    net::TcpStream,
};

#[derive(Debug)]
pub(super) struct Request {
    pub(super) method: String,
    /// Without the slash at its beginning.
    pub(super) path: String,
    pub(super) query: String,
    headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

impl Request {
    pub(super) fn read(stream: &mut TcpStream) -> io::Result<Self> {
        let mut reader = BufReader::new(stream);
        let first = line(&mut reader)?;
        let mut words = first.split(' ');
        let method = words.next().unwrap_or_default().to_owned();
        let target = words.next().unwrap_or_default();
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let mut request = Self {
            method,
            path: path.trim_start_matches('/').to_owned(),
            query: query.to_owned(),
            headers: Vec::new(),
            body: Vec::new(),
        };
        loop {
            let header = line(&mut reader)?;
            let Some((name, value)) = header.split_once(':') else { break };
            request.headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        if request.header("transfer-encoding") == Some("chunked") {
            loop {
                let size = line(&mut reader)?;
                let size = u64::from_str_radix(&size, 16).map_err(io::Error::other)?;
                reader.by_ref().take(size).read_to_end(&mut request.body)?;
                line(&mut reader)?;
                if size == 0 {
                    break;
                }
            }
        } else if let Some(length) = request.header("content-length") {
            let length = length.parse().map_err(io::Error::other)?;
            reader.take(length).read_to_end(&mut request.body)?;
        }
        Ok(request)
    }

    /// By a name in lower case.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

fn line(reader: &mut impl BufRead) -> io::Result<String> {
    let mut line = String::new();
    reader.read_line(&mut line)?;
    Ok(line.trim_end().to_owned())
}
