//! The server on the network: connections, paths, types of bodies.

mod asked;
mod body;
mod encode;
mod health;
pub(crate) mod negotiate;
mod protobuf;
mod request_info;
pub(crate) mod respond;
pub(crate) mod route;
mod server;
mod service;
mod tls;

use serde_json::{Value, json};

pub use server::{Server, ServerError, ServerOptions};
pub use tls::{ServingCertificate, ServingCertificateError, TlsError};

pub(crate) use asked::Asked;
pub(crate) use health::paths as health_paths;
pub(crate) use protobuf::{Writer as ProtobufWriter, envelope};
pub(crate) use request_info::{RequestInfo, ResourceInfo};
pub(crate) use respond::Body;

/// The version that clients compare with their own.
fn version() -> Value {
    json!({
        "major": "1",
        "minor": "35",
        "emulationMajor": "1",
        "emulationMinor": "35",
        "minCompatibilityMajor": "1",
        "minCompatibilityMinor": "34",
        "gitVersion": concat!("v1.35.4+flumen.", env!("CARGO_PKG_VERSION")),
        "gitCommit": "",
        "gitTreeState": "",
        "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": "",
        "compiler": "rustc",
        "platform": format!("{}/{}", std::env::consts::OS, platform()),
    })
}

/// The processor as Go names it.
fn platform() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}
