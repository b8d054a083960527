//! What the rules ask about an object.

use std::borrow::Cow;

use flumen_yaml::Node;
use jiff::Timestamp;

use crate::{
    Condition, Error,
    fields::{go_kind, int_at, text, text_at},
};

/// An object with its conditions, at a point in time.
pub(crate) struct Facts<'a> {
    pub object: &'a Node,
    pub conditions: Vec<Condition>,
    pub now: Timestamp,
}

impl<'a> Facts<'a> {
    pub(crate) fn of(object: &'a Node, now: Timestamp) -> Result<Self, Error> {
        Ok(Self { object, conditions: conditions(object)?, now })
    }

    pub(crate) fn int(&self, path: &[&str], default: i64) -> i64 {
        int_at(self.object, path).unwrap_or(default)
    }

    /// A count in `status`, nought as long as nobody has counted.
    pub(crate) fn count(&self, field: &str) -> i64 {
        self.int(&["status", field], 0)
    }

    /// `spec.replicas`, of which there is one unless it is said otherwise.
    pub(crate) fn replicas(&self) -> i64 {
        self.int(&["spec", "replicas"], 1)
    }

    pub(crate) fn text(&self, path: &[&str]) -> Option<Cow<'a, str>> {
        text_at(self.object, path)
    }

    pub(crate) fn condition(&self, kind: &str, status: &str) -> Option<&Condition> {
        self.conditions.iter().find(|condition| condition.is(kind, status))
    }
}

/// `status.conditions` in its order.
pub(crate) fn conditions(object: &Node) -> Result<Vec<Condition>, Error> {
    let Some(status) = object.get("status").filter(|node| !node.is_null()) else {
        return Ok(Vec::new());
    };
    let Some(list) = mapping(status)?.get("conditions").filter(|node| !node.is_null()) else {
        return Ok(Vec::new());
    };
    let list = list.as_seq().ok_or_else(|| Error::NotAList(go_kind(list)))?;
    list.iter().map(condition).collect()
}

fn condition(node: &Node) -> Result<Condition, Error> {
    if node.is_null() {
        return Ok(Condition::default());
    }
    let map = mapping(node)?;
    let field = |key, go_type| match map.get(key) {
        None => Ok(String::new()),
        Some(node) if node.is_null() => Ok(String::new()),
        Some(node) => text(node).map(Cow::into_owned).ok_or(match go_kind(node) {
            "int64" => Error::Number(go_type),
            _ => Error::NotAText,
        }),
    };
    Ok(Condition {
        kind: field("type", "string")?,
        status: field("status", "v1.ConditionStatus")?,
        reason: field("reason", "string")?,
        message: field("message", "string")?,
    })
}

fn mapping(node: &Node) -> Result<&flumen_yaml::Map, Error> {
    node.as_map().ok_or_else(|| Error::NotAMapping(go_kind(node)))
}
