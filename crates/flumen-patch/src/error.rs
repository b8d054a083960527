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

    #[error("unknown patch strategy '{directive}'")]
    UnknownDirective { directive: String, pos: Pos },

    /// A patch adds a key that JSON cannot have.
    #[error("mapping key {key} has an unsupported type: it is no string, quote it")]
    BareKey { key: String, pos: Pos },

    /// A text that should be a JSON patch is none.
    #[error("{message}")]
    MalformedPatch { message: String, pos: Pos },

    /// An operation of a JSON patch cannot be done.
    #[error("{message}")]
    DoesNotApply { message: String, pos: Pos },

    /// The copies of a JSON patch grow without measure.
    #[error(
        "Unable to complete the copy, the accumulated size increase of copy is {size}, \
         exceeding the limit {limit}"
    )]
    CopyBudget { size: usize, limit: usize, pos: Pos },

    /// A JSON patch makes an object that is nested deeper than anything that can be read.
    #[error("the patch nests the object deeper than {limit} levels")]
    TooDeep { limit: usize, pos: Pos },
}

impl Error {
    /// The place in the patch, or in the target where only that is wrong. May be unknown.
    pub const fn pos(&self) -> Pos {
        match self {
            Self::WrongKind { pos, .. }
            | Self::UnknownDirective { pos, .. }
            | Self::BareKey { pos, .. }
            | Self::MalformedPatch { pos, .. }
            | Self::DoesNotApply { pos, .. }
            | Self::CopyBudget { pos, .. }
            | Self::TooDeep { pos, .. } => *pos,
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
