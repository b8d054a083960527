//! What an API server of Kubernetes 1.35 knows of its built-in kinds: names, verbs, and the Go types
//! behind them down to the protobuf numbers.
//!
//! The facts are one text, read when they are first asked for. Only the embedded API server asks, so
//! that no other command pays for them.

mod facts;
mod form;
mod kind;
mod types;

use std::sync::LazyLock;

pub use form::{Form, Presence};
pub use kind::{ApiKind, Message, Scope, Subresource};
pub use types::{Embedded, Field, Patch, Topology, Type, TypeId};

/// All of it.
#[derive(Debug)]
pub struct Api {
    kinds: Vec<ApiKind>,
    messages: Vec<Message>,
    types: Vec<Type>,
}

static API: LazyLock<Api> = LazyLock::new(|| facts::read(include_str!("api/facts.txt")));

impl Api {
    pub fn get() -> &'static Self {
        &API
    }

    /// Every resource that is served, in the order of discovery.
    pub fn kinds(&self) -> &[ApiKind] {
        &self.kinds
    }

    pub fn kind(&self, group: &str, version: &str, kind: &str) -> Option<&ApiKind> {
        self.kinds.iter().find(|k| k.kind == kind && k.version == version && k.group == group)
    }

    /// Kinds of bodies that are no resources: options, reviews, scales.
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    pub fn message(&self, group: &str, version: &str, kind: &str) -> Option<&Message> {
        self.messages.iter().find(|m| m.kind == kind && m.version == version && m.group == group)
    }

    /// All types, ordered by name.
    pub fn types(&self) -> &[Type] {
        &self.types
    }

    pub fn type_of(&self, id: TypeId) -> &Type {
        &self.types[id.index()]
    }

    /// The type of this name, as `api.core.v1.Pod`.
    pub fn type_named(&self, name: &str) -> Option<TypeId> {
        self.types.binary_search_by(|t| t.name.cmp(name)).ok().map(TypeId::new)
    }
}

#[cfg(test)]
mod tests;
