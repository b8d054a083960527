//! What can go wrong between us and an API server.

use std::time::Duration;

use crate::{ConfigError, Status};

/// Why a request was not done. No variant carries credentials or the object that was sent.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// How to reach the server is not known.
    #[error(transparent)]
    Config(#[from] Box<ConfigError>),

    /// No connection: nothing was asked.
    #[error("the server {address} cannot be reached: {reason}")]
    Unreachable { address: String, reason: String },

    /// The server could not prove who it is.
    #[error("the certificate of {address} is not trusted: {reason}")]
    Untrusted { address: String, reason: String },

    /// The connection broke before the answer was complete; what was asked may have been done.
    #[error("the connection to {address} broke: {reason}")]
    Interrupted { address: String, reason: String },

    /// There was no answer in time; what was asked may have been done.
    #[error("{address} did not answer within {} s", .after.as_secs_f32())]
    TimedOut { address: String, after: Duration },

    /// The caller's deadline passed before the request could be sent.
    #[error("no time was left to ask {address}")]
    Deadline { address: String },

    /// The server answered, and refused.
    #[error("{0}")]
    Refused(Box<Status>),

    /// The server answered, but not as an API server does.
    #[error("the answer of {address} to {request} cannot be read: {reason}")]
    Unreadable { address: String, request: String, reason: String },

    /// What the server knows of the kinds of a group is not all of them.
    #[error(
        "the server behind the API group \"{group}\" does not answer, so its kinds are not known"
    )]
    GroupDown { group: String },

    #[error("`{name}` cannot be a part of a path")]
    InvalidName { name: String },

    #[error("{kind}/{name} needs a namespace")]
    NoNamespace { kind: String, name: String },

    #[error("the object cannot be written as JSON")]
    Unprintable(#[from] flumen_yaml::EmitError),
}

impl Error {
    /// The answer, when the server refused.
    pub const fn status(&self) -> Option<&Status> {
        match self {
            Self::Refused(status) => Some(status),
            _ => None,
        }
    }

    fn has_code(&self, code: u16) -> bool {
        self.status().is_some_and(|status| status.code == code)
    }

    fn has_cause(&self, reason: &str) -> bool {
        self.status().is_some_and(|status| status.causes.iter().any(|cause| cause.reason == reason))
    }

    /// The server says that there is no such object.
    pub fn is_not_found(&self) -> bool {
        self.has_code(404)
    }

    /// The server cannot tell which kinds a group has, because whoever serves them does not answer it.
    pub const fn is_group_down(&self) -> bool {
        matches!(self, Self::GroupDown { .. })
    }

    /// The revision of a watch or of a page is too old.
    pub fn is_expired(&self) -> bool {
        self.has_code(410)
    }

    /// The object, or a field of it, is not as the request assumed.
    pub fn is_conflict(&self) -> bool {
        self.has_code(409)
    }

    /// Fields belong to other managers; the causes name both.
    pub fn is_field_manager_conflict(&self) -> bool {
        self.is_conflict() && self.has_cause("FieldManagerConflict")
    }

    pub fn is_already_exists(&self) -> bool {
        self.status().is_some_and(|status| status.reason == "AlreadyExists")
    }

    pub fn is_unauthorized(&self) -> bool {
        self.has_code(401)
    }

    pub fn is_forbidden(&self) -> bool {
        self.has_code(403)
    }

    pub fn is_invalid(&self) -> bool {
        self.has_code(422)
    }

    /// The object is larger than the server or its storage takes.
    pub fn is_too_large(&self) -> bool {
        self.has_code(413) || self.status().is_some_and(Status::names_size)
    }

    /// The answer names a field that cannot be changed once the object exists.
    pub fn is_immutable(&self) -> bool {
        self.status().is_some_and(Status::names_immutable_field)
    }

    /// The namespace is being deleted and takes no new objects.
    pub fn is_namespace_terminating(&self) -> bool {
        self.is_forbidden() && self.has_cause("NamespaceTerminating")
    }

    /// The namespace of the object does not exist.
    pub fn is_namespace_missing(&self) -> bool {
        self.status().is_some_and(|status| status.code == 404 && status.kind == "namespaces")
    }

    /// A webhook that had to be asked could not be.
    pub fn is_webhook_failure(&self) -> bool {
        self.status().is_some_and(|status| {
            status.code >= 500 && status.message.contains("failed calling webhook")
        })
    }

    /// What the user can do about it, where that is known.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Config(error) => return error.hint(),
            Self::Unreachable { .. } => {
                "check that the cluster is running and that `--context` names the right one; \
                 `--server` sets another address"
            }
            Self::Untrusted { .. } => {
                "name the authority that signed it with `--certificate-authority`, or the name it \
                 was made for with `--tls-server-name`"
            }
            Self::TimedOut { .. } => "`--request-timeout` sets how long an answer is waited for",
            Self::Deadline { .. } => "`--timeout` sets how long everything may take",
            Self::Unreadable { .. } => "check that the address is that of an API server",
            Self::GroupDown { .. } => {
                "`kubectl get apiservices` says which one is not available and why; run again when it is"
            }
            Self::Refused(_) if self.is_unauthorized() => {
                "the server does not know these credentials or they have expired: log in again, or \
                 choose others with `--context` or `--user`"
            }
            Self::Refused(_) if self.is_namespace_terminating() => {
                "wait until the namespace is gone; if it stays, look for finalizers on what it holds"
            }
            Self::Refused(_) if self.is_webhook_failure() => {
                "check that what serves the webhook is running, or remove its configuration"
            }
            Self::Refused(_) if self.is_field_manager_conflict() => {
                "the field belongs to another manager: remove it from the manifest, or from what the \
                 other one applies"
            }
            Self::Refused(_) if self.is_immutable() => {
                "the field cannot be changed: `--force` deletes the object and creates it anew"
            }
            Self::Refused(_) if self.is_namespace_missing() => {
                "create the namespace first, or let `--create-namespace` do it"
            }
            Self::Refused(_) if self.is_too_large() => {
                "split the object: a server takes about 1.5 MiB, and an annotation 256 KiB"
            }
            Self::Refused(_) if self.is_forbidden() => {
                "ask for a role that allows this, or act as somebody else with `--as`"
            }
            _ => return None,
        };
        Some(hint.to_owned())
    }
}
