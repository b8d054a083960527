//! The managed fields of an object: entries of managers with the fields that they own.

use serde_json::{Map, Value};

use crate::{FieldSet, fields_v1::FieldsError, go};

#[derive(Clone, Debug, Default)]
pub(crate) struct Managers {
    /// No two are of the same manager.
    entries: Vec<Entry>,
}

#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) id: Id,
    /// The version in which the fields are named.
    pub(crate) api_version: String,
    pub(crate) time: Option<String>,
    pub(crate) fields: FieldSet,
}

/// What makes a manager another one. The version counts for updates only: whoever applies has one
/// configuration, whatever version it is in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Id {
    pub(crate) manager: String,
    pub(crate) operation: Operation,
    /// Empty for those who apply.
    api_version: String,
    pub(crate) subresource: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Operation {
    Apply,
    Update,
}

impl Operation {
    const fn name(self) -> &'static str {
        match self {
            Self::Apply => "Apply",
            Self::Update => "Update",
        }
    }
}

impl Id {
    pub(crate) fn new(
        manager: &str,
        operation: Operation,
        api_version: &str,
        subresource: &str,
    ) -> Self {
        let api_version = match operation {
            Operation::Apply => "",
            Operation::Update => api_version,
        };
        Self {
            manager: manager.to_owned(),
            operation,
            api_version: api_version.to_owned(),
            subresource: subresource.to_owned(),
        }
    }

    /// The text by which managers are ordered where nothing else orders them.
    pub(crate) fn sort_key(&self) -> String {
        let fields = [
            ("manager", self.manager.as_str()),
            ("operation", self.operation.name()),
            ("apiVersion", &self.api_version),
            ("subresource", &self.subresource),
        ];
        let fields = fields.into_iter().filter(|(_, value)| !value.is_empty());
        let texts: Vec<String> =
            fields.map(|(name, value)| format!("\"{name}\":{}", Value::from(value))).collect();
        format!("{{{}}}", texts.join(","))
    }

    /// As messages name a manager.
    pub(crate) fn shown(&self) -> String {
        let mut text = go::quote(&self.manager);
        if !self.subresource.is_empty() {
            text.push_str(" with subresource ");
            text.push_str(&go::quote(&self.subresource));
        }
        if self.operation == Operation::Update {
            text.push_str(" using ");
            text.push_str(&self.api_version);
        }
        text
    }
}

/// Why managed fields cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ManagersError {
    #[error("operation must be `Apply` or `Update`")]
    Operation,
    #[error("apiVersion must not be empty")]
    ApiVersion,
    #[error("missing fieldsType in managed fields entry {0}")]
    NoFieldsType(usize),
    #[error("invalid fieldsType {} in managed fields entry {index}", go::quote(.name))]
    FieldsType { name: String, index: usize },
    #[error("error decoding set: {0}")]
    Fields(#[from] FieldsError),
}

impl Managers {
    /// Reads the managed fields of an object.
    pub(crate) fn read(managed: Option<&Value>) -> Result<Self, ManagersError> {
        let mut managers = Self::default();
        for (index, entry) in managed.and_then(Value::as_array).into_iter().flatten().enumerate() {
            let text = |name| entry.get(name).and_then(Value::as_str).unwrap_or_default();
            let operation = match text("operation") {
                "Apply" => Operation::Apply,
                "Update" => Operation::Update,
                _ => return Err(ManagersError::Operation),
            };
            let api_version = text("apiVersion");
            if api_version.is_empty() {
                return Err(ManagersError::ApiVersion);
            }
            match text("fieldsType") {
                "FieldsV1" => {}
                "" => return Err(ManagersError::NoFieldsType(index)),
                other => {
                    let name = other.to_owned();
                    return Err(ManagersError::FieldsType { name, index });
                }
            }
            let fields = match entry.get("fieldsV1") {
                Some(fields) if !fields.is_null() => FieldSet::from_fields_v1(fields)?,
                _ => FieldSet::new(),
            };
            managers.set(Entry {
                id: Id::new(text("manager"), operation, api_version, text("subresource")),
                api_version: api_version.to_owned(),
                time: entry.get("time").and_then(Value::as_str).map(ToOwned::to_owned),
                fields,
            });
        }
        Ok(managers)
    }

    /// The managed fields as an object has them: those who apply first, then by time. None if there
    /// are none.
    pub(crate) fn write(mut self) -> Option<Value> {
        if self.entries.is_empty() {
            return None;
        }
        self.entries.sort_by(|a, b| {
            let order = a.id.operation.cmp(&b.id.operation);
            order
                .then_with(|| a.time.cmp(&b.time))
                .then_with(|| a.id.manager.cmp(&b.id.manager))
                .then_with(|| a.api_version.cmp(&b.api_version))
                .then_with(|| a.id.subresource.cmp(&b.id.subresource))
        });
        Some(self.entries.into_iter().map(Entry::into_value).collect())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(crate) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    pub(crate) fn get(&self, id: &Id) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.id == *id)
    }

    pub(crate) fn get_mut(&mut self, id: &Id) -> Option<&mut Entry> {
        self.entries.iter_mut().find(|entry| entry.id == *id)
    }

    /// Puts an entry in the place of the one of the same manager.
    pub(crate) fn set(&mut self, entry: Entry) {
        match self.get_mut(&entry.id) {
            Some(old) => *old = entry,
            None => self.entries.push(entry),
        }
    }

    pub(crate) fn remove(&mut self, id: &Id) -> Option<Entry> {
        let place = self.entries.iter().position(|entry| entry.id == *id)?;
        Some(self.entries.remove(place))
    }

    pub(crate) fn retain(&mut self, keep: impl FnMut(&mut Entry) -> bool) {
        self.entries.retain_mut(keep);
    }
}

impl Entry {
    /// Takes fields away from the manager.
    pub(crate) fn take(&mut self, fields: &FieldSet) {
        self.fields = std::mem::take(&mut self.fields).difference(fields);
    }

    fn into_value(self) -> Value {
        let mut entry = Map::new();
        let mut put = |name: &str, text: String| {
            if !text.is_empty() {
                entry.insert(name.to_owned(), Value::String(text));
            }
        };
        put("apiVersion", self.api_version);
        put("fieldsType", "FieldsV1".to_owned());
        put("manager", self.id.manager);
        put("operation", self.id.operation.name().to_owned());
        put("subresource", self.id.subresource);
        put("time", self.time.unwrap_or_default());
        entry.insert("fieldsV1".to_owned(), self.fields.to_fields_v1());
        Value::Object(entry)
    }
}

/// Whether managed fields that somebody sends ask to forget all entries: an empty list, or one with
/// an empty entry.
pub(crate) fn is_reset(managed: Option<&Value>) -> bool {
    match managed.and_then(Value::as_array).map(Vec::as_slice) {
        Some([]) => true,
        Some([entry]) => entry.as_object().is_some_and(|entry| {
            entry.values().all(|value| value.is_null() || value.as_str() == Some(""))
        }),
        _ => false,
    }
}
