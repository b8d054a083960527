//! Patches: `patches`, `patchesStrategicMerge` and `patchesJson6902`.
//!
//! ```text
//! text ─▶ load: strategic merge or JSON 6902? ─▶ targets: by id or by selector ─▶ apply to each
//! ```
//!
//! A patch may see kustomize's own annotations; see [`build_annotations`].

mod apply;
mod json_form;
mod json_syntax;
mod load;
#[cfg(test)]
mod tests;

use flumen_yaml::Text;

use self::{
    apply::{Applied, MergePatch},
    load::Source,
};
use super::Scene;
use crate::{
    error::{Error, Result},
    id::ResId,
    kustomization::fields::{Located, Patch},
    resmap::ResMap,
    resource::Resource,
    select::{self, Matcher},
};

/// Applies an entry of `patches`.
pub(crate) fn transform(resources: &mut ResMap, entry: &Patch, scene: &Scene<'_>) -> Result<()> {
    let source = Source::of_entry(entry, scene)?;
    match load::detect(&source)? {
        load::Loaded::Nothing => Ok(()),
        load::Loaded::Merge(patches) => {
            let patches = patches.into_iter().map(|patch| {
                MergePatch::new(patch, entry.allow_name_change, entry.allow_kind_change)
            });
            match &entry.target {
                None => merge_by_id(resources, patches, scene),
                Some(target) => {
                    let patches: Vec<MergePatch> = patches.collect();
                    let [patch] = &patches[..] else {
                        return Err(Error::new(format!(
                            "Multiple Strategic-Merge Patches in one `patches` entry is not \
                             allowed to set `patches.target` field: {source}"
                        ))
                        .hint("give each of them an entry of its own"));
                    };
                    let matcher =
                        Matcher::new(target).map_err(|error| error.at(scene.file, target.pos))?;
                    let targets = select::select(resources, &matcher, scene.schema)
                        .map_err(|error| error.at(scene.file, target.pos))?;
                    merge_into(resources, &targets, &patch.clone().for_selected(), scene)
                }
            }
        }
        load::Loaded::Json(patch) => {
            let Some(target) = &entry.target else {
                return Err(Error::new(format!(
                    "must specify a target for JSON patch {source}"
                ))
                .hint("a JSON patch does not say what it is for: add `target` with a kind and a name"));
            };
            let matcher = Matcher::new(target).map_err(|error| error.at(scene.file, target.pos))?;
            let targets = select::select(resources, &matcher, scene.schema)
                .map_err(|error| error.at(scene.file, target.pos))?;
            for position in targets {
                let Some(resource) = resources.bodies_mut().get_mut(position) else { continue };
                resource.store_previous_id(scene.schema);
                let applied = apply::json(resource, &patch, scene)?;
                note(resources, applied);
            }
            Ok(())
        }
    }
}

/// Applies `patchesStrategicMerge`. Each entry is a file or, for the sake of older kustomizations,
/// the patch itself.
pub(crate) fn strategic_merge_files(
    resources: &mut ResMap,
    entries: &[Located],
    scene: &Scene<'_>,
) -> Result<()> {
    if entries.is_empty() {
        return Err(Error::new("empty file path and empty patch content"));
    }
    let mut patches = Vec::new();
    for entry in entries {
        let loaded =
            load::inline_or_file(entry, scene).map_err(|error| error.at(scene.file, entry.pos))?;
        patches.extend(loaded.into_iter().map(|patch| MergePatch::new(patch, false, false)));
    }
    if patches.is_empty() {
        let files: Vec<&str> = entries.iter().map(|entry| entry.text.as_str()).collect();
        return Err(Error::new(format!(
            "patch appears to be empty; files=[{}], Patch=",
            files.join(" ")
        )));
    }
    for patch in patches {
        let position = find_target(resources, &patch, scene)?;
        merge_into(resources, &[position], &patch.for_selected(), scene)?;
    }
    Ok(())
}

/// Applies an entry of `patchesJson6902`.
pub(crate) fn json6902(resources: &mut ResMap, entry: &Patch, scene: &Scene<'_>) -> Result<()> {
    let target = entry.target.as_ref().filter(|target| !target.name.is_empty());
    let Some(target) = target else {
        return Err(Error::new("must specify the target name"));
    };
    let patch = load::json6902(entry, scene)?;
    let matcher = Matcher::new(target).map_err(|error| error.at(scene.file, target.pos))?;
    let targets = select::select(resources, &matcher, scene.schema)
        .map_err(|error| error.at(scene.file, target.pos))?;
    for position in targets {
        let Some(resource) = resources.bodies_mut().get_mut(position) else { continue };
        let applied = apply::json(resource, &patch, scene)?;
        note(resources, applied);
    }
    Ok(())
}

/// Merges each patch into the one resource that has or had its id.
fn merge_by_id(
    resources: &mut ResMap,
    patches: impl Iterator<Item = MergePatch>,
    scene: &Scene<'_>,
) -> Result<()> {
    for patch in patches {
        let position = find_target(resources, &patch, scene).map_err(|error| {
            let id = patch.id(scene.schema);
            error.within(format!("no resource matches strategic merge patch \"{id}\""))
        })?;
        let Some(resource) = resources.bodies_mut().get_mut(position) else { continue };
        let applied = apply::merge(resource, &patch, scene)?;
        note(resources, applied);
    }
    resources.drop_empties();
    Ok(())
}

/// Merges one patch into several resources, after which no two may have the same id.
fn merge_into(
    resources: &mut ResMap,
    targets: &[usize],
    patch: &MergePatch,
    scene: &Scene<'_>,
) -> Result<()> {
    for &position in targets {
        let Some(resource) = resources.bodies_mut().get_mut(position) else { continue };
        let applied = apply::merge(resource, patch, scene)?;
        note(resources, applied);
    }
    resources.drop_empties();
    resources.check_unique(scene.schema)
}

/// Tells the collection what a change may have moved or removed.
fn note(resources: &mut ResMap, applied: Applied) {
    match applied {
        Applied::SameId => {}
        Applied::IdMayDiffer => {
            resources.resources_mut();
        }
        Applied::Deleted => resources.expect_empties(),
    }
}

fn find_target(resources: &ResMap, patch: &MergePatch, scene: &Scene<'_>) -> Result<usize> {
    let id = patch.id(scene.schema);
    let is_alive = |position: &usize| {
        resources
            .resources()
            .get(*position)
            .is_some_and(|resource| !resource.node().is_nil_or_empty())
    };
    let mut matches = resources.by_any_id(&id, scene.schema).iter().copied().filter(is_alive);
    let problem = match (matches.next(), matches.next()) {
        (Some(position), None) => return Ok(position),
        (None, _) => "no matches",
        (Some(_), Some(_)) => "multiple matches",
    };
    let error =
        Error::new(format!("{problem} for Id {id}; failed to find unique target for patch {id}"));
    let error = error.hint(similar(resources, &id, scene));
    Err(match patch.place() {
        Some((file, pos)) => error.at(file, pos),
        None => error,
    })
}

/// Names what the author of a patch may have meant: objects of that name, else of that kind.
fn similar(resources: &ResMap, id: &ResId, scene: &Scene<'_>) -> String {
    const SHOWN: usize = 5;
    let list = |is_similar: &dyn Fn(&Resource) -> bool| {
        let found = resources.iter().filter(|resource| is_similar(resource));
        let names: Vec<String> = found
            .take(SHOWN)
            .map(|resource| format!("{} ({})", resource.id(scene.schema), resource.origin))
            .collect();
        (!names.is_empty()).then(|| names.join(", "))
    };
    let same_name = |resource: &Resource| {
        resource.name() == id.name.as_str() || resource.original_name() == id.name.as_str()
    };
    let same_kind = |resource: &Resource| resource.kind() == id.gvk.kind.as_str();
    if let Some(names) = list(&same_name) {
        return format!("objects of that name: {names}");
    }
    if let Some(names) = list(&same_kind) {
        return format!("objects of that kind: {names}");
    }
    "there is no object of that name or kind".to_owned()
}

/// The text of an inline patch without the white space around it, and how many lines were cut off
/// before it.
fn trimmed(text: &Text) -> (Text, u32) {
    let start = text.len() - text.trim_start().len();
    let end = text.trim_end().len().max(start);
    let lines = text[..start].bytes().filter(|byte| *byte == b'\n').count();
    (text.sub(start..end), u32::try_from(lines).unwrap_or(0))
}
