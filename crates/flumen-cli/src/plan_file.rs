//! Plans that are looked at now and applied later.
//!
//! A plan file names the artifact by digest, and every change with the state of the object that it was
//! planned for. Applying it makes a new plan: what that has beyond the file was approved by nobody.
//! The file holds names and digests, no content.

use std::{
    collections::BTreeMap,
    io::{self, Write as _},
    path::Path,
};

use flumen_apply::{Owner, Plan, Planned, Recorded};
use flumen_diff::ObjectDigest;
use flumen_oci::Digest;
use flumen_yaml::Node;
use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;

use crate::{
    delivery_source::Delivery,
    error::{CommandError, Failure},
    inventory_args::Site,
    key_files::unreadable,
};

/// A change takes some 300 bytes; this is room for more objects than any cluster has.
const MAX_BYTES: u64 = 64 << 20;
/// At most this many changes are named in a message.
const NAMED: usize = 10;

const VERSION: u32 = 1;

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct PlanFile {
    version: u32,
    inventory: String,
    namespace: String,
    artifact: String,
    digest: String,
    /// The number of the deployment that the plan goes on from. Applying the plan makes a new one, so that no plan
    /// is applied twice.
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
    /// How the object is without its status, and how it would be.
    before: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    after: Option<String>,
}

impl PlanFile {
    pub(crate) fn new(plan: &Plan, delivery: &Delivery, recorded: &Recorded, site: &Site) -> Self {
        let changes = plan.objects.iter().filter(|object| object.is_change());
        Self {
            version: VERSION,
            inventory: site.owner.name.clone(),
            namespace: site.owner.namespace.clone(),
            artifact: delivery.artifact.clone(),
            digest: delivery.digest.to_string(),
            after_deployment: last_deployment(recorded),
            made: site.now.clone(),
            changes: changes.map(PlannedChange::new).collect(),
        }
    }

    pub(crate) fn read(path: &Path) -> Result<Self, CommandError> {
        let text =
            flumen_fs::read_text(path, MAX_BYTES).map_err(|error| unreadable(path, &error))?;
        let file: Self = serde_json::from_str(&text).map_err(|error| {
            Failure::new(format!("`{}` is no plan: {error}", path.display()))
                .hint("`flumen plan --out FILE` writes one")
        })?;
        if file.version != VERSION {
            let version = file.version;
            return Err(Failure::new(format!(
                "`{}` is a plan of version {version}",
                path.display()
            ))
            .hint("make a new one with this version of flumen")
            .into());
        }
        Ok(file)
    }

    /// Writes the file for its owner alone; it appears whole or not at all.
    pub(crate) fn write(&self, path: &Path) -> Result<(), CommandError> {
        let write = || -> io::Result<()> {
            let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
            let mut file = NamedTempFile::new_in(directory.unwrap_or(Path::new(".")))?;
            serde_json::to_writer_pretty(&mut file, self)?;
            file.write_all(b"\n")?;
            file.persist(path)?;
            Ok(())
        };
        write().map_err(|error| {
            CommandError::failure(format!("cannot write `{}`: {error}", path.display()))
        })
    }

    /// Whether it is a plan for this inventory and this artifact.
    pub(crate) fn check_subject(&self, owner: &Owner, digest: &Digest) -> Result<(), CommandError> {
        if (&self.inventory, &self.namespace) != (&owner.name, &owner.namespace) {
            return Err(stale(format!(
                "the plan is for the inventory `{}/{}`, not for `{}/{}`",
                self.namespace, self.inventory, owner.namespace, owner.name
            )));
        }
        if self.digest != digest.to_string() {
            return Err(stale(format!(
                "the plan was made for the artifact {}, and this is {digest}",
                self.digest
            )));
        }
        Ok(())
    }

    /// Whether applying now would do nothing beyond the plan.
    pub(crate) fn check(&self, plan: &Plan, recorded: &Recorded) -> Result<(), CommandError> {
        let last = last_deployment(recorded);
        if last != self.after_deployment {
            return Err(stale(format!(
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
        Err(stale(format!("applying would now do more than the plan says:\n{named}{more}")))
    }
}

impl PlannedChange {
    fn new(planned: &Planned) -> Self {
        let action = match &planned.error {
            Some(_) => "refused",
            None if planned.recreated => "recreated",
            None => planned.action.as_str(),
        };
        // An object that is made anew has another identity in every dry run.
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
            action: action.to_owned(),
            live: planned.live.as_ref().map(state),
        }
    }

    /// Whether this is the change that was planned. A new status alone, which gives an object a new version,
    /// makes no difference.
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

fn stale(message: String) -> CommandError {
    Failure::new(message).hint("nothing was applied: make a new plan and look at it").into()
}
