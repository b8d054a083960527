//! One request of a sequence, and how it is written down for people.

use std::fmt;

use serde_json::Value;

/// A request. Texts have placeholders for what differs between servers and runs; see
/// [`super::memory`].
#[derive(Clone, Debug)]
pub(crate) struct Operation {
    pub method: &'static str,
    pub path: String,
    pub query: Vec<(&'static str, String)>,
    pub content_type: Option<&'static str>,
    pub accept: Option<&'static str>,
    pub body: Body,
    /// The path of the object whose event ends a watch; everything else is one answer.
    pub until: Option<String>,
}

#[derive(Clone, Debug)]
pub(crate) enum Body {
    None,
    Text(String),
    /// The object that was last seen at a path, changed by a merge patch.
    Seen {
        path: String,
        change: Value,
    },
}

impl Operation {
    pub(crate) fn new(method: &'static str, path: impl Into<String>) -> Self {
        Self {
            method,
            path: path.into(),
            query: Vec::new(),
            content_type: None,
            accept: None,
            body: Body::None,
            until: None,
        }
    }

    pub(crate) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.query.push((name, value.into()));
        self
    }

    pub(crate) fn with_json(self, body: &Value) -> Self {
        self.with_body("application/json", Body::Text(body.to_string()))
    }

    pub(crate) fn with_body(mut self, content_type: &'static str, body: Body) -> Self {
        self.content_type = Some(content_type);
        self.body = body;
        self
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.method, self.path)?;
        for (place, (name, value)) in self.query.iter().enumerate() {
            write!(f, "{}{name}={value}", if place == 0 { '?' } else { '&' })?;
        }
        for media in [self.content_type, self.accept].into_iter().flatten() {
            write!(f, " [{media}]")?;
        }
        match &self.body {
            Body::None => Ok(()),
            Body::Text(text) => write!(f, " {text}"),
            Body::Seen { path, change } => write!(f, " seen {path} with {change}"),
        }
    }
}
