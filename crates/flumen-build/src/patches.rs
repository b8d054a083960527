//! Patch files, which go over the objects of all inputs.
//!
//! Each file is a stage of its own: the objects so far and what the file says become a kustomization
//! in memory, and the engine builds it. Files that a patch refers to come from the source tree.

mod form;
mod stage;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use flumen_fs::{Bounds, Tree};
use flumen_kustomize::{Location, Options, RemoteSource, Reorder, Session};
use flumen_object::Object;
use flumen_yaml::Pos;

use self::{form::Form, stage::StageTree};
use crate::{Error, inputs};

/// The file in which the engine finds the objects.
const OBJECTS: &str = ".flumen-objects.yaml";

#[derive(Debug)]
pub(crate) struct Patched {
    pub(crate) objects: Vec<Object>,
    pub(crate) warnings: Vec<String>,
    pub(crate) remote_sources: Vec<RemoteSource>,
}

/// Applies one patch file.
pub(crate) fn apply(
    tree: &Arc<dyn Tree>,
    path: &Path,
    objects: &[Object],
    options: &Options,
) -> Result<Patched, Error> {
    let patch = tree.read(path, Bounds::Anywhere)?;
    let form = Form::read(&patch, path)?;
    let (text, lines) = text_of(objects)?;
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let dir = tree.real_dir(parent.unwrap_or(Path::new(".")))?;
    let stage = Stage { path, form: &form, dir: &dir, objects, lines: &lines };

    let overlay = StageTree::new(Arc::clone(tree), dir.clone(), form.kustomization.clone(), text);
    let options = Options { reorder: Reorder::None, ..options.clone() };
    let build = Session::new(Arc::new(overlay))
        .build(&dir, &options)
        .map_err(|error| stage.explain(error))?;
    let patched = build.objects.into_iter().map(|object| {
        let origin = stage.origin_of(object.origin.pos);
        Object { origin: origin.map_or(object.origin, |first| first.origin.clone()), ..object }
    });
    let objects = patched.collect();
    let mut warnings = form.warnings;
    warnings.extend(build.warnings);
    Ok(Patched { objects, warnings, remote_sources: build.remote_sources })
}

/// The objects as one text, and the line at which each of them begins.
fn text_of(objects: &[Object]) -> Result<(Vec<u8>, Vec<u32>), Error> {
    let mut text = Vec::new();
    let mut lines = Vec::with_capacity(objects.len());
    let mut line = 1;
    for object in objects {
        text.extend_from_slice(b"---\n");
        lines.push(line + 1);
        let begin = text.len();
        inputs::emit(object, &mut text)?;
        let breaks = text[begin..].split(|byte| *byte == b'\n').count();
        line += u32::try_from(breaks).unwrap_or(u32::MAX);
    }
    Ok((text, lines))
}

/// What is needed to say where a mistake really is.
struct Stage<'a> {
    path: &'a Path,
    form: &'a Form,
    dir: &'a Path,
    objects: &'a [Object],
    lines: &'a [u32],
}

impl Stage<'_> {
    /// The object that stands at a line of the text that was made of all of them.
    fn origin_of(&self, pos: Pos) -> Option<&Object> {
        let index = self.lines.partition_point(|line| *line <= pos.line);
        self.objects.get(index.checked_sub(1)?)
    }

    /// The engine's error with the place that the user knows: the files of a stage exist in memory
    /// only.
    fn explain(&self, error: flumen_kustomize::Error) -> Error {
        let mut location = error.location().cloned();
        if let Some(place) = &mut location {
            if place.file == self.dir.join(OBJECTS) {
                let origin = self.origin_of(place.pos).map(|object| &object.origin);
                location = origin.and_then(|origin| {
                    let file = origin.file.as_ref()?.to_path_buf();
                    Some(Location { file, pos: origin.pos, line_text: None })
                });
            } else if place.file == self.dir.join(stage::KUSTOMIZATION) {
                place.file = PathBuf::from(self.path);
                if !self.form.keeps_places {
                    place.pos = Pos::default();
                    place.line_text = None;
                }
            }
        }
        Error::Patching { location: location.map(Box::new), error }
    }
}
