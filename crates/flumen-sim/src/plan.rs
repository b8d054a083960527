//! What a controller decides to do.

use jiff::Timestamp;
use serde_json::Value;

use crate::kind::{Id, Kind};

/// By whom something is written; the manager of the fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Writer {
    Manager,
    Kubelet,
    Scheduler,
}

impl Writer {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Manager => "kube-controller-manager",
            Self::Kubelet => "kubelet",
            Self::Scheduler => "kube-scheduler",
        }
    }
}

/// A write. Objects carry the version that they were read at, so that nothing newer is overwritten.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Action {
    Create {
        writer: Writer,
        kind: Kind,
        object: Value,
    },
    Replace {
        writer: Writer,
        kind: Kind,
        object: Value,
    },
    ReplaceStatus {
        writer: Writer,
        kind: Kind,
        object: Value,
    },
    /// Puts a pod on a node.
    Bind {
        pod: Id,
        uid: String,
        node: String,
    },
    /// Takes the rules of a role as its own.
    ApplyRules {
        role: String,
        rules: Value,
    },
    Delete {
        id: Id,
        uid: String,
        grace: Option<i64>,
        propagation: Option<&'static str>,
    },
    Tell(Told),
}

/// An event that people read.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Told {
    /// The object that it is about, or as much of it as a reference has.
    pub(crate) about: Value,
    pub(crate) warning: bool,
    pub(crate) reason: &'static str,
    pub(crate) message: String,
    /// Who says it, as `replicaset-controller`.
    pub(crate) source: &'static str,
}

/// What is to be done for one object now, and when to look again.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Plan {
    pub(crate) actions: Vec<Action>,
    pub(crate) again: Option<Timestamp>,
}

impl Plan {
    pub(crate) fn none() -> Self {
        Self::default()
    }

    pub(crate) fn create(&mut self, kind: Kind, object: Value) {
        self.actions.push(Action::Create { writer: Writer::Manager, kind, object });
    }

    pub(crate) fn replace(&mut self, kind: Kind, object: Value) {
        self.actions.push(Action::Replace { writer: Writer::Manager, kind, object });
    }

    /// Writes a status unless the object has it already.
    pub(crate) fn status(&mut self, writer: Writer, kind: Kind, object: &Value, status: Value) {
        if object.get("status") == Some(&status) {
            return;
        }
        let mut object = object.clone();
        object["status"] = status;
        self.actions.push(Action::ReplaceStatus { writer, kind, object });
    }

    pub(crate) fn delete(&mut self, kind: Kind, object: &Value) {
        let (id, uid) = (Id::of(kind, object), crate::object::uid(object).to_owned());
        self.actions.push(Action::Delete { id, uid, grace: None, propagation: None });
    }

    pub(crate) fn tell(
        &mut self,
        about: &Value,
        source: &'static str,
        reason: &'static str,
        message: String,
    ) {
        self.actions.push(Action::Tell(Told {
            about: reference(about),
            warning: false,
            reason,
            message,
            source,
        }));
    }

    pub(crate) fn warn(
        &mut self,
        about: &Value,
        source: &'static str,
        reason: &'static str,
        message: String,
    ) {
        self.actions.push(Action::Tell(Told {
            about: reference(about),
            warning: true,
            reason,
            message,
            source,
        }));
    }

    /// Looks again at this time, or earlier if something else asks for it.
    pub(crate) fn again_at(&mut self, time: Timestamp) {
        self.again = Some(self.again.map_or(time, |again| again.min(time)));
    }
}

/// An object as events refer to it.
pub(crate) fn reference(object: &Value) -> Value {
    use crate::object::{name, namespace, text, uid};
    let mut reference = serde_json::json!({
        "apiVersion": text(object, "/apiVersion"),
        "kind": text(object, "/kind"),
        "name": name(object),
        "uid": uid(object),
        "resourceVersion": text(object, "/metadata/resourceVersion"),
    });
    if !namespace(object).is_empty() {
        reference["namespace"] = namespace(object).into();
    }
    reference
}
