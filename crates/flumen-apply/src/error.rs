//! What stops a run, in words that name the objects and say what to do.

use std::{fmt, time::Duration};

use flumen_diff::SecretValues;
use flumen_object::{Gvk, ObjectId, Origin};
use flumen_yaml::Node;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Cluster(#[from] flumen_kube::Error),

    #[error("the inventory `{name}` was changed by someone else during this run")]
    InventoryChanged { name: String },

    #[error("cannot write the inventory `{namespace}/{name}`: {source}")]
    InventoryWrite { name: String, namespace: String, source: flumen_kube::Error },

    #[error("the inventory in ConfigMap/{name} cannot be read: {reason}")]
    UnreadableInventory { name: String, reason: String },

    #[error("{id} is there twice{}", places(.first, .second))]
    Duplicate { id: ObjectId, first: Box<Origin>, second: Box<Origin> },

    /// Nothing of the stage was applied.
    #[error("{}", Listed("the cluster would refuse", .0))]
    Rejected(Vec<ObjectError>),

    /// Some of the stage was applied.
    #[error("{}", Listed("the cluster refused", .0))]
    ApplyFailed(Vec<ObjectError>),

    #[error("{}", NotServed(.objects, *.timeout))]
    KindsNotServed { objects: Vec<(ObjectId, Gvk)>, timeout: Duration },

    #[error(
        "pruning would delete {} of {} objects, which is more than it should without a word: {}",
        .stale.len(), .total, subjects(.stale)
    )]
    PruneGuarded { stale: Vec<ObjectId>, total: usize },

    #[error("{}", Listed("not everything could be deleted", .0))]
    PruneFailed(Vec<ObjectError>),

    #[error(transparent)]
    NotHealthy(flumen_health::WaitError),

    #[error("timeout waiting for the deletion of {}", subjects(.0))]
    NotDeleted(Vec<ObjectId>),
}

impl Error {
    pub(crate) fn inventory(name: &str, namespace: &str, source: flumen_kube::Error) -> Self {
        Self::InventoryWrite { name: name.to_owned(), namespace: namespace.to_owned(), source }
    }

    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Cluster(error) => error.hint(),
            Self::InventoryChanged { .. } => {
                Some("two runs of the same inventory met; run again when the other is done".into())
            }
            Self::InventoryWrite { source, .. } if source.is_not_found() => {
                Some("`--create-namespace` creates the namespace of the inventory".into())
            }
            Self::Duplicate { .. } => Some("keep one of them".into()),
            Self::Rejected(errors) | Self::ApplyFailed(errors) | Self::PruneFailed(errors) => {
                errors.iter().find_map(|error| error.hint.clone())
            }
            Self::KindsNotServed { .. } => {
                Some("install the definition of the kind, or wait longer with `--timeout`".into())
            }
            Self::PruneGuarded { .. } => Some(
                "look whether the source is complete; `--allow-large-prune` lets this run delete them"
                    .into(),
            ),
            Self::NotDeleted(_) => Some(
                "its finalizers say who still has to finish something: see that this runs, or wait longer with \
                 `--timeout`"
                    .into(),
            ),
            Self::NotHealthy(_) => Some("what is slow may need more time: `--timeout`".into()),
            Self::InventoryWrite { .. } | Self::UnreadableInventory { .. } => None,
        }
    }
}

/// What was wrong with one object.
#[derive(Clone, Debug)]
pub struct ObjectError {
    pub id: ObjectId,
    pub message: String,
    pub origin: Origin,
    pub hint: Option<String>,
}

impl ObjectError {
    /// The refusal of a dry run, in the words that people search for.
    pub(crate) fn dry_run(
        id: &ObjectId,
        origin: &Origin,
        error: &flumen_kube::Error,
        body: &Node,
    ) -> Self {
        let text = SecretValues::of([body]).mask(&error.to_string());
        let message = if error.is_not_found() && id.namespace.is_empty() {
            format!("{id} namespace not specified: {text}")
        } else if error.is_not_found() {
            format!("{id} not found: {text}")
        } else {
            let reason = match error.status() {
                Some(_) if error.is_field_manager_conflict() => {
                    " (FieldManagerConflict)".to_owned()
                }
                Some(status) if !status.reason.is_empty() => format!(" ({})", status.reason),
                _ => String::new(),
            };
            format!("{id} dry-run failed{reason}: {text}")
        };
        Self { id: id.clone(), message, origin: origin.clone(), hint: hint(id, error) }
    }

    pub(crate) fn not_served(id: &ObjectId, origin: &Origin) -> Self {
        Self { origin: origin.clone(), ..Self::unknown_kind("dry-run", id) }
    }

    /// Something cannot be done to an object because its kind is not served.
    pub(crate) fn unknown_kind(what: &str, id: &ObjectId) -> Self {
        let message = format!(
            "{id} {what} failed: no matches for kind \"{}\" in version \"{}\"",
            id.gvk.kind,
            id.gvk.api_version()
        );
        let hint = "install the definition of the kind, or leave out `--strict-kinds`";
        Self { id: id.clone(), message, origin: Origin::default(), hint: Some(hint.to_owned()) }
    }

    /// Nobody can tell whether an object is there, because whoever serves its kind does not answer.
    pub(crate) fn group_down(id: &ObjectId, error: &flumen_kube::Error) -> Self {
        Self::doing("query", id, &Origin::default(), error, None)
    }

    pub(crate) fn doing(
        what: &str,
        id: &ObjectId,
        origin: &Origin,
        error: &flumen_kube::Error,
        body: Option<&Node>,
    ) -> Self {
        let text = SecretValues::of(body).mask(&error.to_string());
        let message = format!("{id} {what} failed: {text}");
        Self { id: id.clone(), message, origin: origin.clone(), hint: hint(id, error) }
    }
}

impl fmt::Display for ObjectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        if self.origin.file.is_some() { write!(f, " ({})", self.origin) } else { Ok(()) }
    }
}

/// What a user can do about a refusal.
fn hint(id: &ObjectId, error: &flumen_kube::Error) -> Option<String> {
    if error.is_immutable() {
        return Some(format!(
            "the field cannot change on a living object; `--force` deletes {id} and creates it anew"
        ));
    }
    if error.is_namespace_terminating() {
        return Some(format!(
            "namespace `{}` is being deleted; wait until it is gone and run again",
            id.namespace
        ));
    }
    if error.is_not_found() && !id.namespace.is_empty() {
        return Some(format!("does namespace `{}` exist?", id.namespace));
    }
    if error.is_not_found() {
        return Some("give the object a namespace, or a default one with `--namespace`".to_owned());
    }
    error.hint()
}

struct Listed<'a>(&'a str, &'a [ObjectError]);

impl fmt::Display for Listed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.1 {
            [one] => one.fmt(f),
            many => {
                write!(f, "{} {} objects:", self.0, many.len())?;
                many.iter().try_for_each(|one| write!(f, "\n  {one}"))
            }
        }
    }
}

struct NotServed<'a>(&'a [(ObjectId, Gvk)], Duration);

impl fmt::Display for NotServed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not served within {} s:", self.1.as_secs())?;
        for (index, (id, gvk)) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { "," };
            write!(f, "{separator} {id} waits for kind {} of {}", gvk.kind, gvk.api_version())?;
        }
        Ok(())
    }
}

fn places(first: &Origin, second: &Origin) -> String {
    match (&first.file, &second.file) {
        (Some(_), Some(_)) => format!(": {first} and {second}"),
        _ => String::new(),
    }
}

/// At most this many names are listed in a message.
const NAMED: usize = 20;

fn subjects(ids: &[ObjectId]) -> String {
    let mut names: Vec<String> = ids.iter().take(NAMED).map(ToString::to_string).collect();
    if ids.len() > NAMED {
        names.push(format!("and {} more", ids.len() - NAMED));
    }
    names.join(", ")
}
