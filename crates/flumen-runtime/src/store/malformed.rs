//! Objects that do not fit the type of their kind.

use std::{fmt, marker::PhantomData};

use flumen_api::{Condition, Conditions, Kind, Malformed, Metadata};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The readable part of an object that is no valid `K`: enough to report the fault in its status and in an event.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct MalformedObject<K> {
    metadata: Metadata,
    status: Status,
    /// The fault, as messages report it.
    #[serde(skip)]
    reason: String,
    #[serde(skip)]
    kind: PhantomData<fn() -> K>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Status {
    #[serde(skip_serializing_if = "Option::is_none")]
    observed_generation: Option<i64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    conditions: Vec<Condition>,
}

impl<K: Kind> MalformedObject<K> {
    pub(super) fn new(object: &Value, malformed: &Malformed) -> Self {
        let metadata = object.get("metadata").and_then(|it| Metadata::deserialize(it).ok());
        let mut metadata = metadata.unwrap_or_default();
        metadata.namespace.clone_from(&malformed.namespace);
        metadata.name.clone_from(&malformed.name);
        let status = object.get("status");
        let conditions = status.and_then(|status| status.get("conditions"));
        let conditions = conditions.and_then(Value::as_array).into_iter().flatten();
        let status = Status {
            observed_generation: status
                .and_then(|status| status.get("observedGeneration"))
                .and_then(Value::as_i64),
            conditions: conditions.filter_map(|one| Condition::deserialize(one).ok()).collect(),
        };
        Self { metadata, status, reason: malformed.to_string(), kind: PhantomData }
    }

    /// Sets the observed generation to the present one.
    pub(crate) fn observe(&mut self) {
        self.status.observed_generation = Some(self.metadata.generation);
    }
}

/// Prints the fault and the field that has it.
impl<K> fmt::Display for MalformedObject<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

impl<K: Kind> Kind for MalformedObject<K> {
    const GROUP: &'static str = K::GROUP;
    const VERSION: &'static str = K::VERSION;
    const KIND: &'static str = K::KIND;
    const PLURAL: &'static str = K::PLURAL;

    fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    fn metadata_mut(&mut self) -> &mut Metadata {
        &mut self.metadata
    }

    fn status(&self) -> Result<Value, serde_json::Error> {
        serde_json::to_value(&self.status)
    }
}

impl<K: Kind> Conditions for MalformedObject<K> {
    fn conditions(&self) -> &[Condition] {
        &self.status.conditions
    }

    fn conditions_mut(&mut self) -> &mut Vec<Condition> {
        &mut self.status.conditions
    }
}
