//! The kustomization file: its fields, how they are read, and what older files wrote instead.

mod check;
pub(crate) mod fields;
pub(crate) mod tables;
mod typed;

use std::{path::Path, sync::Arc};

use flumen_expr::nearest;
use flumen_fs::FsError;
use flumen_yaml::{Map, Node};

pub(crate) use self::check::check_sort_options;
pub use self::typed::typed_kustomization;
use self::{fields::Kustomization, tables::Legacy};
use crate::{
    aside::Aside,
    decode::{Mode, decode, first_document, is_same_folded},
    error::{Context, Error, Result},
    loader::{File, Loader},
};

/// The names under which a kustomization file is found.
pub const FILE_NAMES: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

pub(crate) const KIND: &str = "Kustomization";
pub(crate) const COMPONENT_KIND: &str = "Component";
const API_VERSION: &str = "kustomize.config.k8s.io/v1beta1";
const COMPONENT_API_VERSION: &str = "kustomize.config.k8s.io/v1alpha1";

/// Finds and reads the kustomization file of a directory.
pub(crate) fn load(
    loader: &Loader,
    warnings: &mut Vec<String>,
) -> Result<(Arc<Path>, Kustomization)> {
    let file = find(loader)?;
    let node = first_document(&file.content, &file.path)
        .map_err(|error| if may_hold_secrets(&file) { error.keep_private() } else { error })
        .within(|| "invalid Kustomization")?;
    let kustomization = parse(&node, &file.path, loader.root(), warnings)?;
    Ok((file.path, kustomization))
}

/// A file that cannot be parsed may have its secrets anywhere.
fn may_hold_secrets(file: &File) -> bool {
    const FIELD: &[u8] = b"secretGenerator";
    /// Nobody writes a larger one by hand, and looking would take long.
    const SEARCHED: usize = 1 << 20;
    let bytes = file.content.as_bytes();
    bytes.len() > SEARCHED
        || bytes.windows(FIELD.len()).any(|text| text.eq_ignore_ascii_case(FIELD))
}

fn find(loader: &Loader) -> Result<File> {
    let mut found = None;
    let mut obstacle = None;
    for name in FILE_NAMES {
        match loader.try_read(name) {
            Ok(file) if found.is_none() => found = Some(file),
            Ok(_) => {
                let root = loader.root().display();
                return Err(Error::new(format!(
                    "Found multiple kustomization files under: {root}"
                ))
                .hint("keep one of kustomization.yaml, kustomization.yml and Kustomization")
                .aside(Aside::LineBreak));
            }
            Err(FsError::NotFound { .. }) => {}
            Err(error) => obstacle = Some(loader.explain(name, &error)),
        }
    }
    found.ok_or_else(|| missing(loader, obstacle))
}

fn missing(loader: &Loader, obstacle: Option<Error>) -> Error {
    let [first, second, third] = FILE_NAMES;
    let root = loader.root().display();
    let error = Error::new(format!(
        "unable to find one of '{first}', '{second}' or '{third}' in directory '{root}'"
    ));
    if let Some(obstacle) = obstacle {
        return error.hint(obstacle.to_string());
    }
    let names = loader.list();
    match nearest(first, names.iter().map(String::as_str)) {
        Some(similar) => error.hint(format!("found `{similar}`; is it misspelled?")),
        None => error,
    }
}

/// Reads the tree of a kustomization file. Warnings are those of kustomize, and one for what it
/// ignores silently.
pub(crate) fn parse(
    node: &Node,
    file: &Path,
    root: &Path,
    warnings: &mut Vec<String>,
) -> Result<Kustomization> {
    let (mut kustomization, legacy) = if node.is_null() {
        Default::default()
    } else {
        decode(node, file, Mode::KUSTOMIZATION, tables::kustomization)
            .within(|| "invalid Kustomization")?
    };
    warn(node, file, warnings);
    modernise(&mut kustomization, legacy);
    if !node.as_map().is_some_and(says_anything) {
        return Err(Error::new("kustomization.yaml is empty")
            .at(file, node.pos)
            .hint("list something in `resources`"));
    }
    enforce(&kustomization, node, file, root)?;
    Ok(kustomization)
}

/// Fields that were once written differently, in the order in which kustomize warns of them.
const DEPRECATED: [(&str, &str, &str); 6] = [
    ("bases", "resources", ""),
    ("commonLabels", "labels", ""),
    ("imageTags", "images", ""),
    ("patchesJson6902", "patches", ""),
    ("patchesStrategicMerge", "patches", ""),
    ("vars", "replacements", "[EXPERIMENTAL] "),
];

fn warn(node: &Node, file: &Path, warnings: &mut Vec<String>) {
    let Some(map) = node.as_map() else { return };
    for (old, new, note) in DEPRECATED {
        if map.iter().any(|entry| is_same_folded(old, &entry.key) && !entry.value.is_null()) {
            warnings.push(format!(
                "# Warning: '{old}' is deprecated. Please use '{new}' instead. {note}Run \
                 'kustomize edit fix' to update your Kustomization automatically."
            ));
        }
    }
    let mut keys: Vec<_> = map.iter().map(|entry| (&entry.key, entry.key_pos)).collect();
    keys.sort();
    for pair in keys.windows(2) {
        if let [(first, _), (second, pos)] = pair
            && first == second
        {
            let (file, line) = (file.display(), pos.line);
            warnings.push(format!(
                "# Warning: {file}:{line}: '{second}' is given more than once, only the last one \
                 counts."
            ));
        }
    }
}

/// Whether a kustomization has anything to do: kustomize counts an empty list as something, unless
/// the field is one that it moves elsewhere.
fn says_anything(map: &Map) -> bool {
    const MOVED: [&str; 3] = ["bases", "imageTags", "helmChartInflationGenerator"];
    map.iter().any(|entry| {
        let is = |name: &str| is_same_folded(name, &entry.key);
        let value = &entry.value;
        if is("apiVersion") || is("kind") || value.is_null() {
            false
        } else if MOVED.into_iter().any(is) {
            !value.is_nil_or_empty()
        } else {
            value.as_str().is_none_or(|text| !text.is_empty())
        }
    })
}

fn modernise(kustomization: &mut Kustomization, legacy: Legacy) {
    kustomization.resources.extend(legacy.bases);
    kustomization.images.extend(legacy.image_tags);
    if kustomization.kind.is_empty() {
        kustomization.kind = KIND.into();
    }
    if kustomization.api_version.is_empty() {
        kustomization.api_version = required_api_version(&kustomization.kind).into();
    }
}

fn required_api_version(kind: &str) -> &'static str {
    if kind == COMPONENT_KIND { COMPONENT_API_VERSION } else { API_VERSION }
}

/// A kustomization must be one, of the version we know.
fn enforce(kustomization: &Kustomization, node: &Node, file: &Path, root: &Path) -> Result<()> {
    let Kustomization { kind, api_version, .. } = kustomization;
    let mut faults = Vec::new();
    let mut key = "kind";
    let required = required_api_version(kind);
    if api_version != required {
        faults.push(format!("apiVersion for {kind} should be {required}"));
        key = "apiVersion";
    }
    if kind != KIND && kind != COMPONENT_KIND {
        faults.insert(0, format!("kind should be {KIND} or {COMPONENT_KIND}"));
        key = "kind";
    }
    if faults.is_empty() {
        return Ok(());
    }
    let pos = node.get(key).map_or(node.pos, |value| value.pos);
    Err(Error::new(format!(
        "Failed to read kustomization file under {}:\n{}",
        root.display(),
        faults.join("\n")
    ))
    .at(file, pos))
}

#[cfg(test)]
mod tests;
