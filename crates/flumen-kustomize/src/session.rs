//! A session: one or more builds that share what they read.

use std::{path::Path, rc::Rc, sync::Arc};

use flumen_fs::{RemoteTrees, Tree};
use flumen_object::{Object, ObjectSet};
use flumen_schema::Schema;
use flumen_yaml::{Pos, Text};
use rustc_hash::FxHashMap;

use crate::{
    accumulate::{Accumulator, Target},
    build_annotations,
    build_metadata::{ORIGIN, Provenance, TRANSFORMATIONS},
    config::FieldSpec,
    error::{Context, Error, Result},
    kustomization::fields::Kustomization,
    loader::{LoadRestriction, Loader, RemoteSource},
    read,
    resmap::ResMap,
    transform::{Scene, hash, labels, name_reference, sort},
};

/// The release of kustomize whose output is printed.
pub const KUSTOMIZE_VERSION: &str = "v5.8.1";

/// How to build.
#[derive(Clone, Debug, Default)]
pub struct Options {
    pub load_restriction: LoadRestriction,
    pub reorder: Reorder,
    /// Adds the label `app.kubernetes.io/managed-by` to everything.
    pub managed_by_label: bool,
    /// Whether charts may be rendered. They cannot be yet; the switch decides what the error says.
    pub enable_helm: bool,
    /// Fetches what is remote; without it, that is refused.
    pub remotes: Option<Arc<dyn RemoteTrees>>,
}

/// The order of the output, where the kustomization file does not say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reorder {
    #[default]
    Unspecified,
    None,
    Legacy,
}

/// What a build ends in.
#[derive(Debug)]
pub struct Build {
    pub objects: ObjectSet,
    pub warnings: Vec<String>,
    /// What was fetched, each once: the same build again gives the same objects if none of them has
    /// another revision.
    pub remote_sources: Vec<RemoteSource>,
}

/// Builds any number of paths of one tree; a base that several of them share is accumulated once.
#[derive(Debug)]
pub struct Session {
    tree: Arc<dyn Tree>,
    bases: FxHashMap<Arc<Path>, Finished>,
}

/// A base as it stands before anything refers to it, and what reading it had to say.
#[derive(Clone, Debug)]
struct Finished {
    accumulator: Accumulator,
    warnings: Vec<String>,
    remote_sources: Vec<RemoteSource>,
}

/// What one build knows beyond the kustomization at hand.
#[derive(Debug)]
pub(crate) struct State<'s> {
    pub(crate) schema: Schema,
    /// Whether a kustomization so far brought facts of its own.
    has_own_schema: bool,
    pub(crate) warnings: Vec<String>,
    options: &'s Options,
    /// Finished bases; none when the build is the only one, because keeping one costs a copy.
    bases: Option<&'s mut FxHashMap<Arc<Path>, Finished>>,
}

impl Session {
    pub fn new(tree: Arc<dyn Tree>) -> Self {
        Self { tree, bases: FxHashMap::default() }
    }

    /// Builds one of several paths, keeping bases for the next ones.
    pub fn build_shared(&mut self, path: &Path, options: &Options) -> Result<Build> {
        build(&self.tree, path, options, Some(&mut self.bases))
    }

    /// Builds a path on its own.
    pub fn build(&self, path: &Path, options: &Options) -> Result<Build> {
        build(&self.tree, path, options, None)
    }
}

fn build(
    tree: &Arc<dyn Tree>,
    path: &Path,
    options: &Options,
    bases: Option<&mut FxHashMap<Arc<Path>, Finished>>,
) -> Result<Build> {
    let remotes = options.remotes.clone();
    let loader = Loader::open(Arc::clone(tree), path, options.load_restriction, remotes)?;
    let mut state = State {
        schema: Schema::builtin(),
        has_own_schema: false,
        warnings: Vec::new(),
        options,
        bases,
    };
    let top = loader.clone();
    let objects = run(loader, &mut state).map_err(|error| error.with_line_text(&**tree))?;
    let mut remote_sources = std::mem::take(&mut *top.remote_sources());
    remote_sources.sort_unstable();
    remote_sources.dedup();
    Ok(Build { objects, warnings: state.warnings, remote_sources })
}

fn run(loader: Loader, state: &mut State<'_>) -> Result<ObjectSet> {
    let options = state.options;
    let mut target = Target::load(loader, state)?;
    state.use_openapi(&target)?;
    let kustomization = Rc::clone(&target.kustomization);
    if !kustomization.build_metadata.is_empty() {
        target.provenance = Some(Provenance::default());
    }
    let mut accumulator = Accumulator::default();
    target.accumulate(&mut accumulator, state)?;

    // What follows must wait until all kustomizations have had their say.
    let Accumulator { mut resources, config, vars } = accumulator;
    let scene = Scene { schema: &state.schema, loader: &target.loader, file: &target.file };
    hash::transform(&mut resources, &scene)?;
    name_reference::transform(&mut resources, &config.name_reference, &scene)?;
    vars.resolve(&mut resources, &config.var_reference, &mut state.warnings, &scene)?;
    if let Some(problem) = state.schema.problem() {
        return Err(Error::new(problem.to_string()).within("reading the `openapi` document"));
    }
    for resource in resources.iter() {
        // A patch may have taken away what makes a manifest one.
        let file = resource.origin.file.as_deref().unwrap_or(&target.file);
        read::check_metadata(resource.node(), file)?;
    }
    resources
        .resources_mut()
        .retain(|resource| !is_local_config(resource.annotation(LOCAL_CONFIG)));
    sort_resources(&mut resources, &kustomization, options, &state.schema, &mut state.warnings)?;
    let asks_for = |option: &str| kustomization.build_metadata.iter().any(|wish| *wish == *option);
    if options.managed_by_label || asks_for("managedByLabel") {
        add_managed_by_label(&mut resources, &scene)?;
    }

    let mut drop = Vec::from(build_annotations::NEVER_PRINTED);
    if !asks_for("originAnnotations") {
        drop.push(ORIGIN);
    }
    if !asks_for("transformerAnnotations") {
        drop.push(TRANSFORMATIONS);
    }
    let objects = resources.into_resources().into_iter().map(|resource| {
        let origin = resource.origin.clone();
        let mut node = resource.into_node();
        build_annotations::finish(&mut node, &drop);
        Object { node, origin }
    });
    Ok(objects.collect())
}

impl State<'_> {
    /// Reads the kustomization in the directory of `loader`, which another one refers to.
    pub(crate) fn target(
        &mut self,
        loader: Loader,
        provenance: Option<Provenance>,
    ) -> Result<Target> {
        let root = Arc::clone(loader.root());
        let mut target = Target::load(loader, self)
            .within(|| format!("couldn't make target for path '{}'", root.display()))?;
        target.provenance = provenance;
        self.use_openapi(&target)?;
        Ok(target)
    }

    /// The result of a base: a kustomization of its own.
    pub(crate) fn base(
        &mut self,
        loader: Loader,
        provenance: Option<Provenance>,
    ) -> Result<Accumulator> {
        let root = Arc::clone(loader.root());
        // Provenance is relative to the path that is built, so such a result is not for sharing.
        let shareable = self.bases.is_some() && provenance.is_none() && !loader.is_remote();
        if let Some(finished) = self.bases.as_ref().and_then(|bases| bases.get(&root))
            && shareable
        {
            self.warnings.extend_from_slice(&finished.warnings);
            loader.remote_sources().extend_from_slice(&finished.remote_sources);
            return Ok(finished.accumulator.clone());
        }
        let warned = self.warnings.len();
        let fetched = loader.remote_sources().len();
        let target = self.target(loader, provenance)?;
        if target.kustomization.kind == "Component" {
            return Err(Error::new(format!(
                "expected kind != 'Component' for path '{}'",
                root.display()
            ))
            .hint("list it under `components`"));
        }
        let mut accumulator = Accumulator::default();
        target
            .accumulate(&mut accumulator, self)
            .within(|| format!("recursed accumulation of path '{}'", root.display()))?;
        // A base that brings a schema changes the rest of the build too, so it must run each time.
        let shareable = shareable && !self.has_own_schema;
        if let Some(bases) = self.bases.as_deref_mut().filter(|_| shareable) {
            let warnings = self.warnings.get(warned..).unwrap_or_default().to_vec();
            let sources = target.loader.remote_sources();
            let remote_sources = sources.get(fetched..).unwrap_or_default().to_vec();
            let accumulator = accumulator.clone();
            bases.insert(root, Finished { accumulator, warnings, remote_sources });
        }
        Ok(accumulator)
    }

    /// Takes the `openapi` field into account.
    fn use_openapi(&mut self, target: &Target) -> Result<()> {
        let field = |key: &str| {
            let pairs = &target.kustomization.openapi;
            pairs.iter().find(|(name, _)| *name == *key).map(|(_, value)| value)
        };
        let document = match field("path") {
            Some(path) => {
                let file = target.loader.read(path)?;
                let text = file
                    .content
                    .decode()
                    .map_err(|error| read::malformed_yaml(&error, &file.path))?;
                self.has_own_schema = true;
                Some(text)
            }
            None => None,
        };
        self.schema
            .choose(field("version").map(Text::as_str), document)
            .map_err(|error| Error::new(error.to_string()).at(&target.file, Pos::default()))
    }

    pub(crate) fn charts_unavailable(&self) -> Error {
        if self.options.enable_helm {
            Error::new("charts are not available yet: `helmCharts` cannot be rendered")
                .hint("render the chart beforehand and list the result under `resources`")
        } else {
            Error::new("must specify --enable-helm")
                .hint("note that charts are not available yet, with that flag neither")
        }
    }
}

/// The order of the output: the kustomization file decides, then the flag, then tradition.
fn sort_resources(
    resources: &mut ResMap,
    kustomization: &Kustomization,
    options: &Options,
    schema: &Schema,
    warnings: &mut Vec<String>,
) -> Result<()> {
    match (&kustomization.sort_options, options.reorder) {
        (Some(sort_options), reorder) => {
            if reorder != Reorder::Unspecified {
                warnings.push(
                    "Warning: Sorting order is set both in 'kustomization.yaml' ('sortOptions') and \
                     in a CLI flag ('--reorder'). Using the kustomization file over the CLI flag."
                        .to_owned(),
                );
            }
            sort::transform(resources, sort_options, schema)
        }
        (None, Reorder::None) => Ok(()),
        (None, _) => {
            sort::legacy(resources, schema);
            Ok(())
        }
    }
}

fn add_managed_by_label(resources: &mut ResMap, scene: &Scene<'_>) -> Result<()> {
    let pairs = vec![(
        Text::literal("app.kubernetes.io/managed-by"),
        Text::from(format!("kustomize-{KUSTOMIZE_VERSION}")),
    )];
    labels::transform(resources, &pairs, &[FieldSpec::anywhere("metadata/labels")], scene)
}

const LOCAL_CONFIG: &str = "config.kubernetes.io/local-config";

/// Such resources configure tools and are not for a cluster.
fn is_local_config(annotation: Option<&str>) -> bool {
    annotation.is_some_and(|value| value != "false")
}
