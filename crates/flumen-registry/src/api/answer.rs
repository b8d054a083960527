//! How requests fail: status, code of the specification, and a sentence.

use axum::{
    http::{HeaderName, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde_json::json;

use crate::{
    store::{Full, Refusal, StoreError},
    uploads::UploadError,
};

#[derive(Debug)]
pub(super) struct Failure {
    status: StatusCode,
    code: &'static str,
    message: String,
    headers: Vec<(HeaderName, HeaderValue)>,
    /// Why it is not the client's fault; told to whoever runs the registry.
    cause: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl Failure {
    fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self { status, code, message: message.into(), headers: Vec::new(), cause: None }
    }

    fn internal(cause: impl std::error::Error + Send + Sync + 'static) -> Self {
        let failure = Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "UNKNOWN",
            "the registry cannot store or read",
        );
        Self { cause: Some(Box::new(cause)), ..failure }
    }

    pub(super) fn cause(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.cause.as_deref().map(|cause| cause as &(dyn std::error::Error + 'static))
    }

    pub(super) fn with(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let body = json!({"errors": [{"code": self.code, "message": self.message}]}).to_string();
        let kind = [(header::CONTENT_TYPE, "application/json")];
        let mut response = (self.status, kind, body).into_response();
        response.headers_mut().extend(self.headers);
        response
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        let not_found = StatusCode::NOT_FOUND;
        match refusal {
            Refusal::BlobUnknown => Self::new(not_found, "BLOB_UNKNOWN", "no such blob here"),
            Refusal::BlobInUse => Self::new(
                StatusCode::METHOD_NOT_ALLOWED,
                "UNSUPPORTED",
                "a manifest of the repository names the blob; delete the manifest first",
            ),
            Refusal::ManifestUnknown => {
                Self::new(not_found, "MANIFEST_UNKNOWN", "no such manifest here")
            }
            Refusal::RepositoryUnknown => {
                Self::new(not_found, "NAME_UNKNOWN", "no such repository here")
            }
            Refusal::ContentMissing(digest) => Self::new(
                not_found,
                "MANIFEST_BLOB_UNKNOWN",
                format!("the manifest names {digest}, which is not in the repository"),
            ),
        }
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        if error.is_full() { failure::full() } else { Self::internal(error) }
    }
}

impl From<Full> for Failure {
    fn from(_: Full) -> Self {
        failure::full()
    }
}

impl From<UploadError> for Failure {
    fn from(error: UploadError) -> Self {
        match error {
            UploadError::TooMany => Self::new(
                StatusCode::TOO_MANY_REQUESTS,
                "TOOMANYREQUESTS",
                "too many uploads are open",
            ),
            UploadError::TooLarge { limit } => Self::new(
                StatusCode::PAYLOAD_TOO_LARGE,
                "SIZE_INVALID",
                format!("larger than {limit} bytes"),
            ),
            UploadError::WrongDigest => {
                failure::digest_invalid("the content is not what the digest names")
            }
            UploadError::Full => failure::full(),
            UploadError::Io(error) => Self::internal(error),
            UploadError::Stopped => Self::internal(StoreError::Stopped),
        }
    }
}

/// Failures by what is wrong with the request.
pub(super) mod failure {
    use super::{Failure, HeaderValue, StatusCode, header};

    pub(in crate::api) fn full() -> Failure {
        Failure::new(StatusCode::INSUFFICIENT_STORAGE, "DENIED", "the registry is full")
    }

    pub(in crate::api) fn unauthorized(challenge: &'static str) -> Failure {
        let message = "credentials are needed, or were not accepted";
        Failure::new(StatusCode::UNAUTHORIZED, "UNAUTHORIZED", message)
            .with(header::WWW_AUTHENTICATE, HeaderValue::from_static(challenge))
    }

    pub(in crate::api) fn not_found() -> Failure {
        Failure::new(StatusCode::NOT_FOUND, "UNSUPPORTED", "no such endpoint")
    }

    pub(in crate::api) fn method_not_allowed() -> Failure {
        Failure::new(
            StatusCode::METHOD_NOT_ALLOWED,
            "UNSUPPORTED",
            "the endpoint has no such method",
        )
    }

    pub(in crate::api) fn name_invalid() -> Failure {
        Failure::new(StatusCode::BAD_REQUEST, "NAME_INVALID", "not the name of a repository")
    }

    pub(in crate::api) fn tag_invalid() -> Failure {
        Failure::new(StatusCode::BAD_REQUEST, "TAG_INVALID", "not a tag")
    }

    pub(in crate::api) fn digest_invalid(message: &str) -> Failure {
        Failure::new(StatusCode::BAD_REQUEST, "DIGEST_INVALID", message)
    }

    pub(in crate::api) fn manifest_invalid(message: impl Into<String>) -> Failure {
        Failure::new(StatusCode::BAD_REQUEST, "MANIFEST_INVALID", message)
    }

    pub(in crate::api) fn manifest_too_large(limit: usize) -> Failure {
        let message = format!("larger than {limit} bytes");
        Failure::new(StatusCode::PAYLOAD_TOO_LARGE, "SIZE_INVALID", message)
    }

    pub(in crate::api) fn number_invalid() -> Failure {
        let message = "n must be a number that is not negative";
        Failure::new(StatusCode::BAD_REQUEST, "PAGINATION_NUMBER_INVALID", message)
    }

    pub(in crate::api) fn upload_unknown() -> Failure {
        Failure::new(StatusCode::NOT_FOUND, "BLOB_UPLOAD_UNKNOWN", "no such upload here")
    }

    pub(in crate::api) fn upload_invalid(message: &str) -> Failure {
        Failure::new(StatusCode::BAD_REQUEST, "BLOB_UPLOAD_INVALID", message)
    }

    pub(in crate::api) fn size_invalid(message: &str) -> Failure {
        Failure::new(StatusCode::BAD_REQUEST, "SIZE_INVALID", message)
    }

    pub(in crate::api) fn range_invalid(message: &str) -> Failure {
        Failure::new(StatusCode::RANGE_NOT_SATISFIABLE, "BLOB_UPLOAD_INVALID", message)
    }
}
