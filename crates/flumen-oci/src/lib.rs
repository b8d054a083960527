//! OCI registries and what Flumen keeps in them.
//!
//! Everything is content that is named by its digest. A [`Repository`] holds such content, on a
//! registry or in a layout on disk; [`copy`] moves whole graphs between two of them, byte for byte;
//! [`artifact`] says how manifests are packed into one and read back; [`signature`] says who vouches
//! for it.
//!
//! ```text
//! objects or a directory ─▶ artifact ─▶ Repository ◀─ copy ─▶ Repository
//!                                           ▲
//!                                       signature
//! ```
//!
//! A digest is checked where the bytes arrive, so nothing above ever sees content that is not what
//! its name says.

pub mod artifact;
mod blob;
pub mod client;
pub mod copy;
mod digest;
mod docker_hub;
mod error;
pub mod layout;
pub mod listing;
mod location;
mod manifest;
pub mod media_type;
mod observer;
mod reference;
mod referrer;
mod repository;
mod send;
pub mod signature;

pub use blob::BlobStream;
pub use digest::{Algorithm, Digest, Hasher};
pub use docker_hub::{DOCKER_HUB, registry_names};
pub use error::{Error, Result};
pub use location::{Form, Location, OnDisk};
pub use manifest::{Descriptor, Document, Index, Manifest, Platform, RawManifest};
pub use observer::{Observer, Watch};
pub use reference::{Reference, Target};
pub use repository::Repository;
