//! One object of a plan, in the JSON that approval tools read.

use flumen_object::ObjectId;
use flumen_yaml::Node;
use serde::{Deserialize, Deserializer, Serialize};

use crate::{
    entries::changed_values,
    shown::{shown, yaml},
};

/// The version of the format.
const VERSION: &str = "2";

/// What happens to an object, or to one of its values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "u8", try_from = "u8")]
pub enum ChangeType {
    #[default]
    Unchanged,
    Removed,
    Added,
    Modified,
    /// It could not be found out.
    Error,
}

impl ChangeType {
    const ALL: [Self; 5] =
        [Self::Unchanged, Self::Removed, Self::Added, Self::Modified, Self::Error];

    /// The sign that people see in front.
    pub const fn symbol(self) -> char {
        match self {
            Self::Unchanged => ' ',
            Self::Removed => '-',
            Self::Added => '+',
            Self::Modified => '~',
            Self::Error => '!',
        }
    }
}

impl From<ChangeType> for u8 {
    fn from(change_type: ChangeType) -> Self {
        change_type as Self
    }
}

impl TryFrom<u8> for ChangeType {
    type Error = String;

    fn try_from(number: u8) -> Result<Self, String> {
        let known = Self::ALL.get(usize::from(number)).copied();
        known.ok_or_else(|| format!("{number} is no type of change"))
    }
}

/// What a plan does to its objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PlanOperation {
    #[default]
    Apply,
    Delete,
}

/// What a plan would do to one object.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Change {
    #[serde(rename = "_version")]
    pub version: String,
    pub name: String,
    /// Empty for objects of the whole cluster.
    pub namespace: String,
    pub kind: String,
    /// Group and version, also where the group is empty: `apps/v1`, `/v1`.
    pub api: String,
    /// The plural of the kind, such as `deployments`.
    pub resource: String,
    pub op: PlanOperation,
    #[serde(rename = "type")]
    pub change_type: ChangeType,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Whether this is a forecast. False in the report of an apply.
    pub dry_run: bool,
    #[serde(deserialize_with = "null_is_default")]
    pub entries: Vec<Entry>,
}

/// One line of a change. The first one of a new or removed object is a header without payload.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Entry {
    /// Such as `spec.containers[0].image`; empty in new and removed objects.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub path: String,
    /// The values themselves, where a writer gives more than lines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub original: Option<serde_json::Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub applied: Option<serde_json::Value>,
    #[serde(rename = "type")]
    pub change_type: ChangeType,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payload: Option<String>,
}

/// The object that a change is about.
#[derive(Clone, Copy, Debug)]
pub struct ChangeSubject<'a> {
    pub id: &'a ObjectId,
    /// The plural of the kind.
    pub resource: &'a str,
}

impl Change {
    /// From the live object to what a dry-run of applying answered. Without a live object it is new,
    /// without a result it is removed. Values of Secrets are masked.
    pub fn between(subject: ChangeSubject<'_>, live: Option<&Node>, result: Option<&Node>) -> Self {
        let (before, after) = shown(live, result);
        let (change_type, entries) = match (&before, &after) {
            (Some(before), Some(after)) => match changed_values(before, after) {
                entries if entries.is_empty() => (ChangeType::Unchanged, entries),
                entries => (ChangeType::Modified, entries),
            },
            (None, Some(after)) => (ChangeType::Added, lines(after, ChangeType::Added)),
            (Some(before), None) => (ChangeType::Removed, lines(before, ChangeType::Removed)),
            (None, None) => (ChangeType::Unchanged, Vec::new()),
        };
        let op = match change_type {
            ChangeType::Removed => PlanOperation::Delete,
            _ => PlanOperation::Apply,
        };
        Self { op, change_type, entries, ..Self::about(subject) }
    }

    /// An object for which the server refused the dry-run. The caller masks the message.
    pub fn failed(subject: ChangeSubject<'_>, error: String) -> Self {
        Self { change_type: ChangeType::Error, error: Some(error), ..Self::about(subject) }
    }

    fn about(subject: ChangeSubject<'_>) -> Self {
        let ObjectId { gvk, namespace, name } = subject.id;
        Self {
            version: VERSION.to_owned(),
            name: name.to_string(),
            namespace: namespace.to_string(),
            kind: gvk.kind.to_string(),
            api: format!("{}/{}", gvk.group, gvk.version),
            resource: subject.resource.to_owned(),
            dry_run: true,
            ..Self::default()
        }
    }
}

impl Entry {
    pub(crate) fn line(path: &str, change_type: ChangeType, payload: &str) -> Self {
        let payload = Some(payload.to_owned());
        Self { path: path.to_owned(), change_type, payload, ..Self::default() }
    }
}

/// A header and every line of an object.
fn lines(object: &Node, change_type: ChangeType) -> Vec<Entry> {
    let header = Entry { change_type, ..Entry::default() };
    let text = yaml(object);
    let lines = text.lines().map(|line| Entry::line("", change_type, line));
    std::iter::once(header).chain(lines).collect()
}

/// Go writes `null` for a list without elements.
pub(crate) fn null_is_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Option::<T>::deserialize(deserializer).map(Option::unwrap_or_default)
}
