//! One of the two servers: sends requests and reads answers.

use std::fmt::Write as _;

use flumen_testkit::PATIENCE;
use reqwest::{Client, Method, Response, header};
use serde_json::Value;

use super::{memory::Memory, operation::Operation};

#[derive(Debug)]
pub(crate) struct Server {
    base: String,
    token: Option<&'static str>,
    client: Client,
}

#[derive(Debug)]
pub(crate) struct Answer {
    pub status: u16,
    pub content_type: String,
    pub warnings: Vec<String>,
    /// Text where the answer is no JSON, an array of events for a watch.
    pub body: Value,
}

impl Server {
    pub(crate) fn new(base: String, token: Option<&'static str>) -> Self {
        // A watch ends with an event, not with time.
        let client = Client::builder().no_proxy().user_agent("differ/1.0").timeout(PATIENCE);
        Self { base, token, client: client.build().expect("a client") }
    }

    pub(crate) async fn send(&self, operation: &Operation, memory: &Memory) -> Answer {
        let method = Method::from_bytes(operation.method.as_bytes()).expect("a method");
        let url = self.url(operation, memory);
        let mut request = self.client.request(method, url);
        for (name, value) in
            [(header::CONTENT_TYPE, operation.content_type), (header::ACCEPT, operation.accept)]
        {
            if let Some(value) = value {
                request = request.header(name, value);
            }
        }
        if let Some(token) = self.token {
            request = request.bearer_auth(token);
        }
        if let Some(body) = memory.body(&operation.body) {
            request = request.body(body);
        }
        match request.send().await {
            Ok(response) => read(response, operation, memory).await,
            Err(error) => Answer {
                status: 0,
                content_type: String::new(),
                warnings: Vec::new(),
                body: format!("{error:?}").into(),
            },
        }
    }

    fn url(&self, operation: &Operation, memory: &Memory) -> String {
        let mut url = format!("{}{}", self.base, memory.fill(&operation.path));
        for (place, (name, value)) in operation.query.iter().enumerate() {
            let value = memory.fill(value);
            let value =
                percent_encoding::utf8_percent_encode(&value, percent_encoding::NON_ALPHANUMERIC);
            let _ = write!(url, "{}{name}={value}", if place == 0 { '?' } else { '&' });
        }
        url
    }
}

async fn read(mut response: Response, operation: &Operation, memory: &Memory) -> Answer {
    let text = |value: &header::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let headers = response.headers();
    let mut answer = Answer {
        status: response.status().as_u16(),
        content_type: headers.get(header::CONTENT_TYPE).map(text).unwrap_or_default(),
        warnings: headers.get_all(header::WARNING).iter().map(text).collect(),
        body: Value::Null,
    };
    let until = operation.until.as_ref().filter(|_| answer.status == 200);
    if until.is_some_and(|path| !memory.knows(path)) {
        // The object that would end the watch was refused.
        return answer;
    }
    let until = until.map(|path| memory.fill(path.rsplit('/').next().unwrap_or_default()));
    let mut bytes = Vec::new();
    let mut events = Vec::new();
    while let Ok(Some(chunk)) = response.chunk().await {
        bytes.extend_from_slice(&chunk);
        let Some(until) = &until else { continue };
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = bytes.drain(..=end).collect();
            let event: Value = serde_json::from_slice(&line).unwrap_or_default();
            let is_last = names(&event["object"], until);
            if event["type"] != "BOOKMARK" {
                events.push(event);
            }
            if is_last {
                answer.body = Value::Array(events);
                return answer;
            }
        }
    }
    answer.body = if until.is_some() {
        events.push("the watch ended before its last event".into());
        Value::Array(events)
    } else {
        let text = || Value::String(String::from_utf8_lossy(&bytes).into_owned());
        serde_json::from_slice(&bytes).unwrap_or_else(|_| text())
    };
    answer
}

/// Whether an object, or the first row of a table, has this name.
fn names(object: &Value, name: &str) -> bool {
    object["metadata"]["name"] == name || object["rows"][0]["object"]["metadata"]["name"] == name
}
