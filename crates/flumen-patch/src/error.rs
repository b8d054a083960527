//! Why a patch does not apply.

use std::fmt;

use flumen_yaml::{Node, Pos, Value};
use thiserror::Error;

/// The wording is that of the libraries inside kustomize, which users know and search for.
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// Target and patch have different kinds of nodes at the same place.
    #[error("wrong node kind: expected {expected} but got {found}")]
    WrongKind { expected: NodeKind, found: NodeKind, pos: Pos },

    /// An operation of a JSON patch does not apply, or is none.
    #[error("{message}")]
    Json { message: String, pos: Pos },

    #[error("unknown patch strategy '{directive}'")]
    UnknownDirective { directive: String, pos: Pos },
}

impl Error {
    pub(crate) const fn json(message: String, pos: Pos) -> Self {
        Self::Json { message, pos }
    }

    /// The place in the patch, or in the target where only that is wrong. May be unknown.
    pub const fn pos(&self) -> Pos {
        match self {
            Self::WrongKind { pos, .. }
            | Self::Json { pos, .. }
            | Self::UnknownDirective { pos, .. } => *pos,
        }
    }
}

/// A kind of YAML node, by the name that go-yaml gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    Mapping,
    Sequence,
    Scalar,
}

impl NodeKind {
    pub(crate) const fn of(node: &Node) -> Self {
        match node.value {
            Value::Map(_) => Self::Mapping,
            Value::Seq(_) => Self::Sequence,
            Value::Scalar(_) => Self::Scalar,
        }
    }
}

impl fmt::Display for NodeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Mapping => "MappingNode",
            Self::Sequence => "SequenceNode",
            Self::Scalar => "ScalarNode",
        })
    }
}
