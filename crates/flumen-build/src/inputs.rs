//! What is built, and the build.

use std::{collections::HashMap, path::PathBuf, sync::Arc};

use flumen_fs::{RemoteTrees, Tree};
use flumen_kustomize::{LoadRestriction, RemoteSource, Session};
use flumen_object::{Object, ObjectId, ObjectSet};
use flumen_yaml::EmitError;

use crate::{Error, documents, files, patches};

pub(crate) const SEPARATOR: &[u8] = b"---\n";

/// What to build from, in this order.
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    /// Directories that hold a kustomization file.
    pub kustomizations: Vec<PathBuf>,
    /// Manifests, or directories of them.
    pub files: Vec<PathBuf>,
    /// Texts that were read already, with the name that messages use for them.
    pub documents: Vec<(String, Vec<u8>)>,
    /// Patch files that go over all of it, in order.
    pub patches: Vec<PathBuf>,
}

#[derive(Clone, Debug, Default)]
pub struct Options {
    pub load_restriction: LoadRestriction,
    pub enable_helm: bool,
    /// Fetches what kustomizations name by URL; without it, that is refused.
    pub remotes: Option<Arc<dyn RemoteTrees>>,
}

/// The objects in apply order, and what deserves attention.
#[derive(Debug)]
pub struct Built {
    pub objects: ObjectSet,
    pub warnings: Vec<String>,
    /// What was fetched, and in which state.
    pub remote_sources: Vec<RemoteSource>,
}

impl Built {
    /// The text that is packaged: the objects as YAML documents separated by `---`.
    pub fn to_yaml(&self) -> Result<Vec<u8>, Error> {
        let mut text = Vec::new();
        for object in &self.objects {
            if !text.is_empty() {
                text.extend_from_slice(SEPARATOR);
            }
            emit(object, &mut text)?;
        }
        Ok(text)
    }
}

/// Builds all inputs, patches the result and puts it in apply order.
pub fn build(tree: Arc<dyn Tree>, inputs: &Inputs, options: &Options) -> Result<Built, Error> {
    let mut objects = Vec::new();
    let mut warnings = Vec::new();
    let mut remote_sources = Vec::new();
    let source = Arc::clone(&tree);
    let mut session = Session::new(tree);
    let kustomize = options.kustomize();
    for path in &inputs.kustomizations {
        let build = session.build_shared(path, &kustomize).map_err(Error::Kustomize)?;
        objects.extend(build.objects);
        warnings.extend(build.warnings);
        remote_sources.extend(build.remote_sources);
    }
    for path in &inputs.files {
        files::read(&*source, path, &mut objects)?;
    }
    for (name, text) in &inputs.documents {
        objects.extend(documents::check_documents(text, name)?);
    }
    refuse_duplicates(&objects)?;
    for path in &inputs.patches {
        let patched = patches::apply(&source, path, &objects, &kustomize)?;
        objects = patched.objects;
        warnings.extend(patched.warnings);
        remote_sources.extend(patched.remote_sources);
    }
    remote_sources.sort_unstable();
    remote_sources.dedup();
    let objects: ObjectSet = objects.into_iter().collect();
    Ok(Built { objects: objects.in_apply_order(), warnings, remote_sources })
}

impl Options {
    fn kustomize(&self) -> flumen_kustomize::Options {
        flumen_kustomize::Options {
            load_restriction: self.load_restriction,
            enable_helm: self.enable_helm,
            remotes: self.remotes.clone(),
            ..flumen_kustomize::Options::default()
        }
    }
}

/// Appends the text of an object. The value of a secret is in no message.
pub(crate) fn emit(object: &Object, text: &mut Vec<u8>) -> Result<(), Error> {
    flumen_yaml::emit(&object.node, text).map_err(|error: EmitError| {
        let id = object.id();
        let problem = if id.gvk.kind == "Secret" {
            format!("the value of `{}` cannot be printed", error.path)
        } else {
            error.to_string()
        };
        Error::Unprintable { id: Box::new(id), problem, origin: Box::new(object.origin.clone()) }
    })
}

/// Two objects of one name would overwrite each other in the cluster, in an order nobody chose.
fn refuse_duplicates(objects: &[Object]) -> Result<(), Error> {
    let mut seen: HashMap<ObjectId, &Object> = HashMap::with_capacity(objects.len());
    for object in objects {
        let id = object.id();
        if let Some(first) = seen.get(&id) {
            return Err(Error::Duplicate {
                id: Box::new(id),
                first: Box::new(first.origin.clone()),
                second: Box::new(object.origin.clone()),
            });
        }
        seen.insert(id, object);
    }
    Ok(())
}
