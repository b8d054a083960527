//! The managed fields of a scale, which are a part of those of the object that is scaled.

use serde_json::Value;

use super::managers::{Entry, Managers, ManagersError};
use crate::FieldSet;

/// Where replicas are in the versions of a kind: pairs of a version and the names of the fields down
/// to the number. A version without a scale has no path.
#[derive(Clone, Copy, Debug)]
pub struct ScalePaths<'a>(pub &'a [(&'a str, Option<&'a [&'a str]>)]);

const SCALE_VERSION: &str = "autoscaling/v1";
const REPLICAS_OF_SCALE: &[&str] = &["spec", "replicas"];

impl<'a> ScalePaths<'a> {
    fn has(self, api_version: &str) -> bool {
        self.0.iter().any(|(version, _)| *version == api_version)
    }

    fn of(self, api_version: &str) -> Option<&'a [&'a str]> {
        self.0.iter().find(|(version, _)| *version == api_version)?.1
    }
}

/// The managed fields of the scale of an object: the entries that own its replicas.
pub fn scale_from_parent(parent: Option<&Value>, paths: ScalePaths<'_>) -> Option<Value> {
    let mut managers = Managers::read(parent).ok()?;
    managers.retain(|entry| {
        let path = paths.of(&entry.api_version);
        let owned = path.is_some_and(|path| entry.fields.has_path(path));
        if owned {
            SCALE_VERSION.clone_into(&mut entry.api_version);
            entry.fields = FieldSet::of_paths([REPLICAS_OF_SCALE]);
        }
        owned
    });
    managers.write()
}

/// The managed fields of an object after a write of its scale, given those of both before and after.
pub fn scale_to_parent(
    parent: Option<&Value>,
    scale: Option<&Value>,
    api_version: &str,
    paths: ScalePaths<'_>,
) -> Result<Option<Value>, String> {
    let read = |managed| Managers::read(managed).map_err(|error: ManagersError| error.to_string());
    let before = read(parent)?;
    let mut scale = read(scale)?;
    let mut after = Managers::default();
    for entry in before.entries() {
        if !paths.has(&entry.api_version) {
            continue;
        }
        let mut entry = entry.clone();
        let path = paths.of(&entry.api_version).filter(|path| entry.fields.has_path(path));
        if let Some(path) = path
            && scale.remove(&entry.id).is_none()
        {
            entry.take(&FieldSet::of_paths([path]));
        }
        if !entry.fields.is_empty() {
            after.set(entry);
        }
    }
    let path = paths.of(api_version).unwrap_or_default();
    for entry in scale.entries() {
        if entry.fields.has_path(REPLICAS_OF_SCALE) {
            after.set(Entry {
                id: entry.id.clone(),
                api_version: api_version.to_owned(),
                time: before.get(&entry.id).and_then(|before| before.time.clone()),
                fields: FieldSet::of_paths([path]),
            });
        }
    }
    Ok(after.write())
}
