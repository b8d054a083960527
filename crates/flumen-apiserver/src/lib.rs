//! A Kubernetes API server in one process.
//!
//! ```text
//! HTTP ─▶ http ─▶ auth ─▶ Call ─▶ verbs ─▶ Answer ─▶ http (JSON, YAML, Table)
//!                                  │ Resource: flumen-kinds or flumen-crd
//!                                  └ flumen-store
//! ```
//!
//! Everything that is asked of the server is a `Call`, whether it came over the network or from a
//! controller in the same process.

#![allow(clippy::disallowed_methods, reason = "the server keeps keys in files and reads the clock")]

mod admission;
mod answer;
mod api;
mod auth;
mod boot;
mod call;
mod catalog;
mod changes;
mod clock;
mod compaction;
mod conversion;
mod definitions;
mod discovery;
mod error;
mod fanout;
mod http;
mod local;
mod meta;
mod openapi;
mod ownership;
mod patch;
mod policy;
mod represent;
mod resource;
mod rules;
mod services;
mod splice;
mod state;
mod storage;
mod user;
mod verbs;
mod webhook;

pub use admission::{AdmissionPlugin, UnknownPlugin};
pub use api::{Api, ApiOptions};
pub use auth::{
    AuthError, AuthOptions, ClientAuthority, ClientAuthorityError, StaticTokens, TokenFileError,
};
pub use call::Media;
pub use catalog::Catalog;
pub use changes::{Change, Changes};
pub use error::{ApiError, Reason};
pub use flumen_store::WatchError;
pub use http::{
    Server, ServerError, ServerOptions, ServingCertificate, ServingCertificateError, TlsError,
};
pub use local::{Client, Deletion, ResourceName, Select};
pub use resource::{Location, Resource};
pub use services::ServiceRange;
pub use state::{StateDir, StateError};
pub use user::User;

use answer::{Answer, Payload};
use call::{Call, MetaVersion, Query, Representation, Target, Verb};
use conversion::Converter;
use error::{Cause, Details};
use resource::{Behaviour, Subresource};
