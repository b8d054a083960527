//! The line between gix, which speaks Git's protocol, and our HTTP client.
//!
//! gix writes a request and then reads headers and body of the answer from two readers. Both share
//! one [`Answer`], and the request goes out when the first of them is read.

use std::{
    any::Any,
    cell::RefCell,
    io::{self, BufRead, Cursor, Read, Write},
    rc::Rc,
    str::FromStr as _,
};

use bytes::Bytes;
use gix::protocol::transport::client::blocking_io::http as gix_http;
use reqwest::{
    Response,
    header::{HeaderMap, HeaderName, HeaderValue},
};
use url::Url;

use crate::{Error, http::Exchange};

/// What gix cannot carry: why something went wrong on the way, in our own terms.
#[derive(Clone, Debug, Default)]
pub(crate) struct Failure(Rc<RefCell<Option<Error>>>);

impl Failure {
    /// Keeps an error where callers find it, and gives gix one it understands.
    pub(crate) fn keep(&self, error: Error) -> io::Error {
        let told = io::Error::other(error.to_string());
        *self.0.borrow_mut() = Some(error);
        told
    }

    pub(crate) fn take(&self) -> Option<Error> {
        self.0.borrow_mut().take()
    }
}

/// Carries requests of gix to a server.
#[derive(Clone, Debug)]
pub(crate) struct Line(Rc<RefCell<State>>);

#[derive(Debug)]
struct State {
    exchange: Exchange,
    failure: Failure,
    /// Where the repository turned out to be.
    redirected_base: Option<String>,
}

impl Line {
    pub(crate) fn new(exchange: Exchange, failure: Failure) -> Self {
        Self(Rc::new(RefCell::new(State { exchange, failure, redirected_base: None })))
    }

    fn ask(
        &self,
        url: &str,
        base_url: &str,
        headers: impl IntoIterator<Item = impl AsRef<str>>,
        upload: Option<Rc<RefCell<Vec<u8>>>>,
    ) -> gix::Result<(Headers, Body)> {
        let request = Request {
            url: Url::parse(url).map_err(gix::Error::from_error)?,
            tail: url.strip_prefix(base_url).unwrap_or_default().to_owned(),
            headers: header_map(headers),
            upload,
        };
        let answer = Rc::new(RefCell::new(Answer::Asked(Box::new(request))));
        let headers = Headers { line: self.clone(), answer: Rc::clone(&answer), text: None };
        Ok((headers, Body { line: self.clone(), answer, chunk: Bytes::new() }))
    }
}

impl gix_http::Http for Line {
    type Headers = Headers;
    type ResponseBody = Body;
    type PostBody = Upload;

    fn get(
        &mut self,
        url: &str,
        base_url: &str,
        headers: impl IntoIterator<Item = impl AsRef<str>>,
    ) -> gix::Result<gix_http::GetResponse<Headers, Body>> {
        let (headers, body) = self.ask(url, base_url, headers, None)?;
        Ok(gix_http::GetResponse { headers, body })
    }

    fn post(
        &mut self,
        url: &str,
        base_url: &str,
        headers: impl IntoIterator<Item = impl AsRef<str>>,
        _: gix_http::PostBodyDataKind,
    ) -> gix::Result<gix_http::PostResponse<Headers, Body, Upload>> {
        let upload = Rc::new(RefCell::new(Vec::new()));
        let (headers, body) = self.ask(url, base_url, headers, Some(Rc::clone(&upload)))?;
        Ok(gix_http::PostResponse { post_body: Upload(upload), headers, body })
    }

    fn configure(&mut self, _: &dyn Any) -> gix::Result {
        Ok(())
    }

    fn redirected_base_url(&self) -> Option<String> {
        self.0.borrow().redirected_base.clone()
    }
}

fn header_map(lines: impl IntoIterator<Item = impl AsRef<str>>) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for line in lines {
        if let Some((name, value)) = line.as_ref().split_once(':')
            && let Ok(name) = HeaderName::from_str(name)
            && let Ok(value) = HeaderValue::from_str(value.trim())
        {
            headers.append(name, value);
        }
    }
    headers
}

#[derive(Debug)]
struct Request {
    url: Url,
    /// What follows the address of the repository.
    tail: String,
    headers: HeaderMap,
    upload: Option<Rc<RefCell<Vec<u8>>>>,
}

/// A request on its way to being answered.
#[derive(Debug)]
enum Answer {
    Asked(Box<Request>),
    Arrived(Response),
    /// The end was read, or nothing ever came.
    Over,
}

/// Sends the request unless that has happened, and hands the response to `use_it`.
fn with_response<T>(
    line: &Line,
    answer: &RefCell<Answer>,
    use_it: impl FnOnce(&Exchange, &mut Response) -> Result<T, Error>,
) -> io::Result<Option<T>> {
    let mut answer = answer.borrow_mut();
    let result = (|| {
        let state = &mut *line.0.borrow_mut();
        if let Answer::Asked(request) = &*answer {
            let response = send(state, request)?;
            *answer = Answer::Arrived(response);
        }
        match &mut *answer {
            Answer::Arrived(response) => use_it(&state.exchange, response).map(Some),
            _ => Ok(None),
        }
    })();
    result.map_err(|error| {
        *answer = Answer::Over;
        line.0.borrow().failure.keep(error)
    })
}

fn send(state: &mut State, request: &Request) -> Result<Response, Error> {
    let Some(upload) = &request.upload else {
        let response = state.exchange.get(&request.url, &request.headers)?;
        if *response.url() != request.url {
            let base = response.url().as_str().strip_suffix(&request.tail).ok_or_else(|| {
                Error::Redirected { url: state.exchange.shown(), reason: "to another page" }
            })?;
            state.redirected_base = Some(base.to_owned());
        }
        return Ok(response);
    };
    state.exchange.post(&request.url, &request.headers, upload.take())
}

/// The headers of an answer, a line for each.
#[derive(Debug)]
pub(crate) struct Headers {
    line: Line,
    answer: Rc<RefCell<Answer>>,
    text: Option<Cursor<Vec<u8>>>,
}

impl Headers {
    fn text(&mut self) -> io::Result<&mut Cursor<Vec<u8>>> {
        let text = match self.text.take() {
            Some(text) => text,
            None => Cursor::new(
                with_response(&self.line, &self.answer, |_, response| Ok(lines(response)))?
                    .unwrap_or_default(),
            ),
        };
        Ok(self.text.insert(text))
    }
}

fn lines(response: &Response) -> Vec<u8> {
    let mut text = Vec::new();
    for (name, value) in response.headers() {
        for part in [name.as_str().as_bytes(), b":", value.as_bytes(), b"\n"] {
            text.extend_from_slice(part);
        }
    }
    text
}

impl Read for Headers {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.text()?.read(buffer)
    }
}

impl BufRead for Headers {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.text()?.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        if let Some(text) = &mut self.text {
            text.consume(amount);
        }
    }
}

/// The body of an answer, as it arrives.
#[derive(Debug)]
pub(crate) struct Body {
    line: Line,
    answer: Rc<RefCell<Answer>>,
    chunk: Bytes,
}

impl Read for Body {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let available = self.fill_buf()?;
        let amount = available.len().min(buffer.len());
        buffer[..amount].copy_from_slice(&available[..amount]);
        self.consume(amount);
        Ok(amount)
    }
}

impl BufRead for Body {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        while self.chunk.is_empty() {
            let chunk = with_response(&self.line, &self.answer, Exchange::chunk)?.flatten();
            match chunk {
                Some(chunk) => self.chunk = chunk,
                None => break,
            }
        }
        Ok(&self.chunk)
    }

    fn consume(&mut self, amount: usize) {
        self.chunk = self.chunk.slice(amount.min(self.chunk.len())..);
    }
}

/// Collects the body of a request.
#[derive(Debug)]
pub(crate) struct Upload(Rc<RefCell<Vec<u8>>>);

impl Write for Upload {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
