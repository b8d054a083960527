//! Plans that are reviewed now and applied later.
//!
//! A plan file names the artifact by digest, and every change with the state of the object that it was
//! planned for. Applying it makes a new plan: changes beyond the file were not approved.
//! The file has names and digests, no content.

use std::{
    collections::BTreeMap,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use flumen_diff::ObjectDigest;
use flumen_yaml::Node;
use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;

use crate::{Owner, Plan, Planned, Recorded};

/// A change takes some 300 bytes; this is room for more objects than any cluster has.
const MAX_BYTES: u64 = 64 << 20;
/// At most this many changes are named in a message.
const NAMED: usize = 10;

const VERSION: u32 = 1;

/// What a plan is for: an inventory and an artifact.
#[derive(Clone, Copy, Debug)]
pub struct PlanSubject<'a> {
    pub owner: &'a Owner,
    /// The name of the artifact with its digest.
    pub artifact: &'a str,
    pub digest: &'a str,
}

/// A plan that was written to a file.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PlanFile {
    version: u32,
    inventory: String,
    namespace: String,
    artifact: String,
    digest: String,
    /// The number of the deployment before the plan. Applying the plan makes a new one, so that no plan is applied
    /// twice.
    after_deployment: u64,
    made: String,
    changes: Vec<PlannedChange>,
}

/// One change and the object that it was planned for.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct PlannedChange {
    id: String,
    action: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    live: Option<LiveState>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct LiveState {
    uid: String,
    resource_version: String,
    /// Digests of the object without its status, now and after the change.
    before: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    after: Option<String>,
}

impl PlanFile {
    /// A plan that was made after what is recorded; `now` is RFC 3339, UTC.
    pub fn new(subject: PlanSubject<'_>, plan: &Plan, recorded: &Recorded, now: &str) -> Self {
        let changes = plan.objects.iter().filter(|object| object.is_change());
        Self {
            version: VERSION,
            inventory: subject.owner.name.clone(),
            namespace: subject.owner.namespace.clone(),
            artifact: subject.artifact.to_owned(),
            digest: subject.digest.to_owned(),
            after_deployment: last_deployment(recorded),
            made: now.to_owned(),
            changes: changes.map(PlannedChange::new).collect(),
        }
    }

    pub fn read(path: &Path) -> Result<Self, PlanFileError> {
        let own = || path.to_owned();
        let text = flumen_fs::read_text(path, MAX_BYTES)
            .map_err(|error| PlanFileError::Read { path: own(), error })?;
        let file: Self = serde_json::from_str(&text)
            .map_err(|error| PlanFileError::NotAPlan { path: own(), error })?;
        if file.version != VERSION {
            return Err(PlanFileError::Version { path: own(), version: file.version });
        }
        Ok(file)
    }

    /// Writes the whole file or nothing, readable for its owner alone.
    pub fn write(&self, path: &Path) -> Result<(), PlanFileError> {
        let write = || -> io::Result<()> {
            let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
            let mut file = NamedTempFile::new_in(directory.unwrap_or(Path::new(".")))?;
            serde_json::to_writer_pretty(&mut file, self)?;
            file.write_all(b"\n")?;
            file.persist(path)?;
            Ok(())
        };
        write().map_err(|error| PlanFileError::Write { path: path.to_owned(), error })
    }

    /// Checks that this is a plan for an inventory and an artifact.
    pub fn check_subject(&self, subject: PlanSubject<'_>) -> Result<(), PlanFileError> {
        let PlanSubject { owner, digest, .. } = subject;
        if (&self.inventory, &self.namespace) != (&owner.name, &owner.namespace) {
            return Err(PlanFileError::Stale(format!(
                "the plan is for the inventory `{}/{}`, not for `{}/{}`",
                self.namespace, self.inventory, owner.namespace, owner.name
            )));
        }
        if self.digest != digest {
            return Err(PlanFileError::Stale(format!(
                "the plan was made for the artifact {}, and this is {digest}",
                self.digest
            )));
        }
        Ok(())
    }

    /// Checks that a new plan has no changes beyond this one.
    pub fn check(&self, plan: &Plan, recorded: &Recorded) -> Result<(), PlanFileError> {
        let last = last_deployment(recorded);
        if last != self.after_deployment {
            return Err(PlanFileError::Stale(format!(
                "the plan was made {}, and deployment {last} came since",
                match self.after_deployment {
                    0 => "before anything was deployed".to_owned(),
                    number => format!("after deployment {number}"),
                }
            )));
        }
        let planned: BTreeMap<&str, &PlannedChange> =
            self.changes.iter().map(|change| (change.id.as_str(), change)).collect();
        let additional: Vec<String> = plan
            .objects
            .iter()
            .filter(|object| object.is_change())
            .filter_map(|object| {
                let now = PlannedChange::new(object);
                match planned.get(now.id.as_str()) {
                    None => Some(format!("{} {}", object.id, now.action)),
                    Some(then) if !now.is_within(then) => {
                        Some(format!("{} {} otherwise than planned", object.id, now.action))
                    }
                    Some(_) => None,
                }
            })
            .collect();
        if additional.is_empty() {
            return Ok(());
        }
        let more = additional.len().saturating_sub(NAMED);
        let named = additional[..additional.len() - more].join("\n");
        let more = if more > 0 { format!("\nand {more} more") } else { String::new() };
        Err(PlanFileError::Stale(format!(
            "applying would now do more than the plan says:\n{named}{more}"
        )))
    }
}

impl PlannedChange {
    fn new(planned: &Planned) -> Self {
        // An object that is recreated has another uid in every dry run.
        let result = planned.result.as_ref().filter(|_| !planned.recreated);
        let state = |live: &Node| {
            let text = |key: &str| {
                let value = live.at(&["metadata", key]).and_then(Node::as_str);
                value.unwrap_or_default().to_owned()
            };
            LiveState {
                uid: text("uid"),
                resource_version: text("resourceVersion"),
                before: ObjectDigest::of_live(live).to_string(),
                after: result.map(|result| ObjectDigest::of_live(result).to_string()),
            }
        };
        Self {
            id: planned.id.inventory_id(),
            action: planned.effect().to_owned(),
            live: planned.live.as_ref().map(state),
        }
    }

    /// Whether this is the planned change. A new status alone, which gives the object a new version, makes no
    /// difference.
    fn is_within(&self, then: &Self) -> bool {
        let without_version = |live: &Option<LiveState>| {
            live.clone().map(|live| LiveState { resource_version: String::new(), ..live })
        };
        self.action == then.action && without_version(&self.live) == without_version(&then.live)
    }
}

fn last_deployment(recorded: &Recorded) -> u64 {
    recorded.history.first().map_or(0, |last| last.number)
}

/// Why a plan file cannot be used. Messages name their causes.
#[derive(Debug, thiserror::Error)]
pub enum PlanFileError {
    #[error("cannot read `{}`: {error}", path.display())]
    Read { path: PathBuf, error: io::Error },
    #[error("cannot write `{}`: {error}", path.display())]
    Write { path: PathBuf, error: io::Error },
    #[error("`{}` is no plan: {error}", path.display())]
    NotAPlan { path: PathBuf, error: serde_json::Error },
    #[error("`{}` is a plan of version {version}", path.display())]
    Version { path: PathBuf, version: u32 },
    /// The cluster or the artifact has changed since the plan was made.
    #[error("{0}")]
    Stale(String),
}

impl PlanFileError {
    /// What to try.
    pub const fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Read { .. } | Self::Write { .. } => None,
            Self::NotAPlan { .. } => Some("`flumen plan --out FILE` writes one"),
            Self::Version { .. } => Some("make a new one with this version of flumen"),
            Self::Stale(_) => Some("nothing was applied: make a new plan and look at it"),
        }
    }
}
