//! What all kinds have in common, and how their objects are read.

use std::fmt;

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::Metadata;

/// A kind of custom resource.
pub trait Kind: Serialize + DeserializeOwned + Clone + fmt::Debug + Send + Sync + 'static {
    const GROUP: &'static str;
    const VERSION: &'static str;
    const KIND: &'static str;
    const PLURAL: &'static str;

    fn metadata(&self) -> &Metadata;
    fn metadata_mut(&mut self) -> &mut Metadata;
    /// Returns the status as a server takes it.
    fn status(&self) -> Result<Value, serde_json::Error>;

    /// Group and version, as objects have them.
    fn api_version() -> String {
        format!("{}/{}", Self::GROUP, Self::VERSION)
    }
}

/// Implements [`Kind`] and [`Conditions`](crate::Conditions) for a struct with `metadata`, `spec` and `status`.
macro_rules! kind {
    ($type:ty: $group:literal, $version:literal, $kind:literal, $plural:literal) => {
        impl $crate::Kind for $type {
            const GROUP: &'static str = $group;
            const VERSION: &'static str = $version;
            const KIND: &'static str = $kind;
            const PLURAL: &'static str = $plural;

            fn metadata(&self) -> &$crate::Metadata {
                &self.metadata
            }

            fn metadata_mut(&mut self) -> &mut $crate::Metadata {
                &mut self.metadata
            }

            fn status(&self) -> Result<::serde_json::Value, ::serde_json::Error> {
                ::serde_json::to_value(&self.status)
            }
        }

        impl $crate::Conditions for $type {
            fn conditions(&self) -> &[$crate::Condition] {
                &self.status.conditions
            }

            fn conditions_mut(&mut self) -> &mut Vec<$crate::Condition> {
                &mut self.status.conditions
            }
        }
    };
}
pub(crate) use kind;

/// An object that is not what its kind asks for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind} {} is malformed: {}{reason}", self.object(), self.place())]
pub struct Malformed {
    pub kind: &'static str,
    /// Empty if it cannot be read.
    pub namespace: String,
    /// Empty if it cannot be read.
    pub name: String,
    /// The field that is wrong, such as `spec.interval`; empty if it is the object as a whole.
    pub field: String,
    pub reason: String,
}

impl Malformed {
    fn object(&self) -> String {
        match (self.namespace.as_str(), self.name.as_str()) {
            ("", "") => "without a name".to_owned(),
            ("", name) => name.to_owned(),
            (namespace, name) => format!("{namespace}/{name}"),
        }
    }

    fn place(&self) -> String {
        if self.field.is_empty() { String::new() } else { format!("{}: ", self.field) }
    }
}

/// Reads an object. Its `apiVersion` and `kind` are not looked at: who asked for it knows them.
pub fn read<K: Kind>(object: &Value) -> Result<K, Malformed> {
    serde_path_to_error::deserialize(object).map_err(|error| {
        let metadata = |key: &str| {
            let value = object.get("metadata").and_then(|metadata| metadata.get(key));
            value.and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let path = error.path().to_string();
        Malformed {
            kind: K::KIND,
            namespace: metadata("namespace"),
            name: metadata("name"),
            field: if path == "." { String::new() } else { path },
            reason: error.into_inner().to_string(),
        }
    })
}

/// The object as a server takes it, with `apiVersion` and `kind`.
pub fn write<K: Kind>(object: &K) -> Result<Value, serde_json::Error> {
    let mut value = serde_json::to_value(object)?;
    value["apiVersion"] = K::api_version().into();
    value["kind"] = K::KIND.into();
    Ok(value)
}
