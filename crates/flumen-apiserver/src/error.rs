//! Refusals: the Status object that every client understands.

use std::fmt;

use flumen_fields::FieldError;
use flumen_serve::Rejection;
use serde_json::{Map, Value, json};

/// Why a request failed. Cheap to pass around; there is one for every failure a client can see.
#[derive(Clone, Debug)]
pub struct ApiError(Box<Refusal>);

#[derive(Clone, Debug)]
struct Refusal {
    code: u16,
    /// None for the few failures that have no reason.
    reason: Option<Reason>,
    message: String,
    details: Option<Details>,
    /// Where a list goes on that is too old to be continued.
    continuation: Option<String>,
    warnings: Vec<String>,
    /// The whole Status, if it is that of someone else.
    status: Option<Value>,
}

/// The reasons that clients act on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    Unauthorized,
    Forbidden,
    NotFound,
    AlreadyExists,
    Conflict,
    Gone,
    Invalid,
    ServerTimeout,
    Timeout,
    TooManyRequests,
    BadRequest,
    MethodNotAllowed,
    NotAcceptable,
    RequestEntityTooLarge,
    UnsupportedMediaType,
    InternalError,
    Expired,
    ServiceUnavailable,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Details {
    pub name: String,
    pub group: String,
    pub kind: String,
    pub uid: String,
    pub causes: Vec<Cause>,
    pub retry_after_seconds: u32,
}

#[derive(Clone, Debug)]
pub(crate) struct Cause {
    pub reason: String,
    pub message: String,
    pub field: String,
}

impl ApiError {
    pub(crate) fn new(code: u16, reason: Option<Reason>, message: impl Into<String>) -> Self {
        Self(Box::new(Refusal {
            code,
            reason,
            message: message.into(),
            details: None,
            continuation: None,
            warnings: Vec::new(),
            status: None,
        }))
    }

    /// A Status that someone else has made, which is handed on as it is.
    pub(crate) fn handed_on(code: u16, status: Value) -> Self {
        let message = status["message"].as_str().unwrap_or_default();
        let mut error = Self::new(code, None, message);
        error.0.status = Some(status);
        error
    }

    /// What was to be said before the request failed.
    #[must_use]
    pub(crate) fn with_warnings(mut self, warnings: Vec<String>) -> Self {
        self.0.warnings = warnings;
        self
    }

    pub(crate) fn warnings(&self) -> &[String] {
        &self.0.warnings
    }

    #[must_use]
    pub(crate) fn with_details(mut self, details: Details) -> Self {
        self.0.details = Some(details);
        self
    }

    #[must_use]
    pub(crate) fn with_message(mut self, message: impl Into<String>) -> Self {
        self.0.message = message.into();
        self
    }

    /// Brings a token with which a list goes on.
    #[must_use]
    pub(crate) fn with_continue(mut self, token: String) -> Self {
        self.0.continuation = Some(token);
        self
    }

    /// The server has an API at the place, but not this resource.
    pub(crate) fn unknown_resource() -> Self {
        let message = "the server could not find the requested resource";
        Self::new(404, Some(Reason::NotFound), message).with_details(Details::default())
    }

    pub(crate) fn method_not_allowed() -> Self {
        let message = "the server does not allow this method on the requested resource";
        Self::new(405, Some(Reason::MethodNotAllowed), message).with_details(Details::default())
    }

    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(400, Some(Reason::BadRequest), message)
    }

    pub(crate) fn not_found(group: &str, resource: &str, name: &str) -> Self {
        let message = format!("{} {name:?} not found", qualified(resource, group));
        Self::new(404, Some(Reason::NotFound), message).with_details(of(group, resource, name))
    }

    pub(crate) fn already_exists(group: &str, resource: &str, name: &str) -> Self {
        let message = format!("{} {name:?} already exists", qualified(resource, group));
        Self::new(409, Some(Reason::AlreadyExists), message).with_details(of(group, resource, name))
    }

    pub(crate) fn conflict(group: &str, resource: &str, name: &str, why: &str) -> Self {
        let resource_of = qualified(resource, group);
        let message = format!("Operation cannot be fulfilled on {resource_of} {name:?}: {why}");
        Self::new(409, Some(Reason::Conflict), message).with_details(of(group, resource, name))
    }

    pub(crate) fn forbidden(group: &str, resource: &str, name: &str, why: &str) -> Self {
        let resource_of = qualified(resource, group);
        let message = match (resource.is_empty(), name.is_empty()) {
            (true, _) => format!("forbidden: {why}"),
            (false, true) => format!("{resource_of} is forbidden: {why}"),
            (false, false) => format!("{resource_of} {name:?} is forbidden: {why}"),
        };
        Self::new(403, Some(Reason::Forbidden), message).with_details(of(group, resource, name))
    }

    /// What validation found wrong. There must be something.
    pub(crate) fn invalid(group: &str, kind: &str, name: &str, errors: &[FieldError]) -> Self {
        let mut texts: Vec<String> = Vec::new();
        for error in errors {
            let text = error.to_string();
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
        let text = match texts.as_slice() {
            [one] => one.clone(),
            several => format!("[{}]", several.join(", ")),
        };
        let message = format!("{} {name:?} is invalid: {text}", qualified(kind, group));
        let causes = errors.iter().map(Cause::of).collect();
        let details = Details { causes, ..of(group, kind, name) };
        Self::new(422, Some(Reason::Invalid), message).with_details(details)
    }

    pub(crate) fn internal(message: impl fmt::Display) -> Self {
        let cause =
            Cause { reason: String::new(), message: message.to_string(), field: String::new() };
        Self::new(500, Some(Reason::InternalError), format!("Internal error occurred: {message}"))
            .with_details(Details { causes: vec![cause], ..Details::default() })
    }

    pub fn code(&self) -> u16 {
        self.0.code
    }

    pub fn reason(&self) -> Option<Reason> {
        self.0.reason
    }

    pub fn message(&self) -> &str {
        &self.0.message
    }

    pub(crate) fn details(&self) -> Option<&Details> {
        self.0.details.as_ref()
    }

    /// The Status object.
    pub(crate) fn to_status(&self) -> Value {
        if let Some(status) = &self.0.status {
            return status.clone();
        }
        let mut status = json!({
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": self.0.message,
            "code": self.0.code,
        });
        if let Some(token) = &self.0.continuation {
            status["metadata"]["continue"] = token.as_str().into();
        }
        if let Some(reason) = self.0.reason {
            // The names of the reasons are those of the variants.
            status["reason"] = format!("{reason:?}").into();
        }
        if let Some(details) = &self.0.details {
            status["details"] = details.to_value();
        }
        status
    }
}

impl Details {
    fn to_value(&self) -> Value {
        let mut map = Map::new();
        for (key, text) in
            [("name", &self.name), ("group", &self.group), ("kind", &self.kind), ("uid", &self.uid)]
        {
            if !text.is_empty() {
                map.insert(key.to_owned(), text.as_str().into());
            }
        }
        if !self.causes.is_empty() {
            map.insert("causes".to_owned(), self.causes.iter().map(Cause::to_value).collect());
        }
        if self.retry_after_seconds > 0 {
            map.insert("retryAfterSeconds".to_owned(), self.retry_after_seconds.into());
        }
        Value::Object(map)
    }
}

impl Cause {
    fn of(error: &FieldError) -> Self {
        Self {
            reason: error.kind.reason().to_owned(),
            message: error.body(),
            field: error.field.clone(),
        }
    }

    fn to_value(&self) -> Value {
        let mut map = Map::new();
        for (key, text) in
            [("reason", &self.reason), ("message", &self.message), ("field", &self.field)]
        {
            if !text.is_empty() {
                map.insert(key.to_owned(), text.as_str().into());
            }
        }
        Value::Object(map)
    }
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for ApiError {}

impl From<Rejection> for ApiError {
    fn from(rejection: Rejection) -> Self {
        let why = rejection.to_string();
        match rejection {
            Rejection::MissingHost | Rejection::MalformedHost => Self::bad_request(why),
            Rejection::ForeignHost | Rejection::ForeignOrigin => Self::forbidden("", "", "", &why),
        }
    }
}

/// `deployments.apps`, or `pods` for the core group.
fn qualified(resource: &str, group: &str) -> String {
    if group.is_empty() { resource.to_owned() } else { format!("{resource}.{group}") }
}

fn of(group: &str, kind: &str, name: &str) -> Details {
    Details {
        name: name.to_owned(),
        group: group.to_owned(),
        kind: kind.to_owned(),
        ..Details::default()
    }
}
