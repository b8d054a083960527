//! What the server answers.

use std::{fmt, pin::Pin, sync::Arc};

use bytes::Bytes;
use flumen_store::Entry;
use futures_util::Stream;
use serde_json::Value;

use crate::Resource;

/// The answer to a [`crate::Call`] that did not fail.
#[derive(Debug)]
pub(crate) struct Answer {
    /// 200, or 201 for what was created, or 202.
    pub code: u16,
    pub payload: Payload,
    /// Sent as `Warning` headers, in this order.
    pub warnings: Vec<String>,
}

pub(crate) enum Payload {
    /// An object with `apiVersion` and `kind`, which may also be a Status or a Scale. The resource is
    /// what it is shown as in a table.
    Object { object: Value, resource: Option<Arc<Resource>> },
    /// Items are as they are stored: a list may be long, and is often passed on unread.
    List { resource: Arc<Resource>, metadata: Value, items: Vec<Entry> },
    /// Lines of watch events, already in the representation that was asked for.
    Watch(Pin<Box<dyn Stream<Item = Bytes> + Send>>),
    /// Text that is no object: logs.
    Text(String),
}

impl fmt::Debug for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Object { .. } => "Object",
            Self::List { .. } => "List",
            Self::Watch(_) => "Watch",
            Self::Text(_) => "Text",
        })
    }
}

impl Answer {
    pub(crate) const fn new(code: u16, payload: Payload) -> Self {
        Self { code, payload, warnings: Vec::new() }
    }
}
