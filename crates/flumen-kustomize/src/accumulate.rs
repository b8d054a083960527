//! One kustomization: its resources, bases and components gathered, then its own rules applied.
//!
//! The order is kustomize's and cannot be changed without changing output: resources, field
//! configuration, generators, components, transformers, validators, variables. Bases are finished
//! kustomizations whose result is added; components continue on what their parent has so far.

use std::{path::Path, rc::Rc, sync::Arc};

use flumen_fs::printable;
use flumen_yaml::Pos;

use crate::{
    aside::Aside,
    build_metadata::{ORIGIN, Provenance},
    config::{FieldSpec, FieldSpecs, TransformerConfig, merge_spec, merge_specs},
    configurations,
    content::Content,
    crds,
    error::{Context, Error, Result},
    generate,
    kustomization::{
        self,
        fields::{Kustomization, Label, Located},
    },
    loader::{Entry, File, Loader, reading},
    plugins::{self, Plugin},
    read,
    resmap::ResMap,
    session::State,
    transform::{
        Scene, annotations, images, labels, namespace, patch, prefix, replacement, replicas, suffix,
    },
    vars::Vars,
};

/// What a kustomization and everything below it amount to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Accumulator {
    pub(crate) resources: ResMap,
    pub(crate) config: TransformerConfig,
    pub(crate) vars: Vars,
}

/// A kustomization that has been read.
#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) kustomization: Rc<Kustomization>,
    pub(crate) loader: Loader,
    /// The kustomization file.
    pub(crate) file: Arc<Path>,
    /// Set when `buildMetadata` of the outermost kustomization asks for anything.
    pub(crate) provenance: Option<Provenance>,
}

impl Target {
    pub(crate) fn load(loader: Loader, state: &mut State<'_>) -> Result<Self> {
        let (file, kustomization) = kustomization::load(&loader, &mut state.warnings)?;
        Ok(Self { kustomization: Rc::new(kustomization), loader, file, provenance: None })
    }

    /// Runs this kustomization on top of `accumulator`, which is empty unless this is a component.
    pub(crate) fn accumulate(
        &self,
        accumulator: &mut Accumulator,
        state: &mut State<'_>,
    ) -> Result<()> {
        let kustomization = &*self.kustomization;
        self.add_resources(accumulator, &kustomization.resources, state)
            .within(|| "accumulating resources")?;
        let config = configurations::load(&self.loader, &kustomization.configurations)?;
        accumulator.config.merge(&config)?;
        let crds = crds::load(&self.loader, &kustomization.crds).within(|| "loading CRDs")?;
        accumulator.config.merge(&crds)?;
        self.run_generators(&mut accumulator.resources, state)?;
        for component in &kustomization.components {
            self.add_component(accumulator, component, state)
                .map_err(|error| error.at(&self.file, component.pos))
                .within(|| "accumulating components")?;
        }
        self.run_transformers(accumulator, state)?;
        self.run_validators(&mut accumulator.resources, state)?;
        let first_var = kustomization.vars.first().map_or_else(Pos::default, |var| var.pos);
        accumulator
            .vars
            .add(&kustomization.vars, &mut accumulator.resources, &state.schema)
            .map_err(|error| error.at(&self.file, first_var))
            .within(|| "merging vars")?;
        let directory = self.loader.root();
        for resource in accumulator.resources.bodies_mut() {
            resource.origin.kustomizations.push(Arc::clone(directory));
        }
        Ok(())
    }

    fn add_resources(
        &self,
        accumulator: &mut Accumulator,
        entries: &[Located],
        state: &mut State<'_>,
    ) -> Result<()> {
        entries.iter().try_for_each(|entry| {
            self.add_resource(accumulator, entry, state)
                .map_err(|error| error.at(&self.file, entry.pos))
        })
    }

    /// Adds a file, or the result of a directory that is a kustomization of its own.
    fn add_resource(
        &self,
        accumulator: &mut Accumulator,
        entry: &Located,
        state: &mut State<'_>,
    ) -> Result<()> {
        let path = entry.text.as_str();
        let loader = match self.loader.resource(path)? {
            Entry::Directory(loader) => loader,
            Entry::File(file) => {
                let added = self
                    .add_file(accumulator, path, &file, state)
                    .map_err(|error| self.loader.before_directory(path, error));
                match added.is_err().then(|| self.loader.behind_page(path)).flatten() {
                    Some(Ok(loader)) => loader,
                    _ => return added,
                }
            }
        };
        let root = Arc::clone(loader.root());
        state
            .base(loader, self.provenance.as_ref().map(|here| here.join(path)))
            .and_then(|base| {
                accumulator
                    .merge(base, state)
                    .within(|| format!("recursed merging from path '{}'", root.display()))
            })
            .map_err(|error| self.loader.after_file(path, error))
    }

    fn add_file(
        &self,
        accumulator: &mut Accumulator,
        path: &str,
        file: &File,
        state: &State<'_>,
    ) -> Result<()> {
        let read = || {
            let mut resources = ResMap::default();
            for mut resource in read::resources(&file.content, &file.path, 1)? {
                if let Some(here) = &self.provenance {
                    resource.set_annotation(ORIGIN, here.join(path).to_yaml());
                }
                resources.append(resource, &state.schema)?;
            }
            Ok(resources)
        };
        let resources = read()
            .map_err(|error: Error| error.aside(Aside::InFile(printable(path).into_owned())))
            .within(|| reading(path))?;
        accumulator
            .resources
            .append_all(resources, &state.schema)
            .within(|| format!("merging resources from '{}'", printable(path)))
    }

    fn add_component(
        &self,
        accumulator: &mut Accumulator,
        entry: &Located,
        state: &mut State<'_>,
    ) -> Result<()> {
        let loader = self
            .loader
            .enter(&entry.text)
            .map_err(|error| error.aside(Aside::Quoted("loader.New")))?;
        self.run_component(accumulator, loader, &entry.text, state)
            .map_err(|error| error.aside(Aside::Quoted("accumulateDirectory:")))
    }

    fn run_component(
        &self,
        accumulator: &mut Accumulator,
        loader: Loader,
        path: &str,
        state: &mut State<'_>,
    ) -> Result<()> {
        let root = Arc::clone(loader.root());
        let provenance = self.provenance.as_ref().map(|here| here.join(path));
        let component = state.target(loader, provenance)?;
        let kind = component.kustomization.kind.as_str();
        if kind != "Component" {
            return Err(Error::new(format!(
                "expected kind 'Component' for path '{}' but got '{kind}'",
                root.display()
            ))
            .hint("list it under `resources`, or make it `kind: Component`"));
        }
        component
            .accumulate(accumulator, state)
            .within(|| format!("recursed accumulation of path '{}'", root.display()))
    }

    fn scene<'a>(&'a self, state: &'a State<'_>) -> Scene<'a> {
        Scene { schema: &state.schema, loader: &self.loader, file: &self.file }
    }

    fn run_generators(&self, resources: &mut ResMap, state: &mut State<'_>) -> Result<()> {
        let kustomization = &*self.kustomization;
        let options = kustomization.generator_options.as_ref();
        if let Some(pos) = kustomization.helm_charts {
            return Err(state.charts_unavailable().at(&self.file, pos));
        }
        for args in &kustomization.config_map_generator {
            let generated = generate::config_map(args, options, &self.scene(state))
                .map_err(|error| error.at(&self.file, args.pos))?;
            absorb(resources, generated, self.builtin("ConfigMapGenerator"), state)
                .map_err(|error| error.at(&self.file, args.pos))?;
        }
        for args in &kustomization.secret_generator {
            let generated = generate::secret(args, options, &self.scene(state))
                .map_err(|error| error.at(&self.file, args.pos).keep_private())?;
            absorb(resources, generated, self.builtin("SecretGenerator"), state)
                .map_err(|error| error.at(&self.file, args.pos))?;
        }
        for (plugin, provenance) in self.plugins(&kustomization.generators, state)? {
            let generated = plugin.generate(&self.scene(state))?;
            absorb(resources, generated, provenance, state)?;
        }
        Ok(())
    }

    /// Where results of a field of this kustomization come from.
    fn builtin(&self, kind: &'static str) -> Option<Provenance> {
        let name = self.file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        self.provenance.as_ref().map(|here| here.builtin(name, kind))
    }

    fn run_transformers(&self, accumulator: &mut Accumulator, state: &mut State<'_>) -> Result<()> {
        let kustomization = &*self.kustomization;
        let plugins = self.plugins(&kustomization.transformers, state)?;
        let scene = self.scene(state);
        let config = &accumulator.config;
        let resources = &mut accumulator.resources;

        if !kustomization.patches_strategic_merge.is_empty() {
            patch::strategic_merge_files(
                resources,
                &kustomization.patches_strategic_merge,
                &scene,
            )?;
            self.finish(resources, "PatchStrategicMergeTransformer", 1);
        }
        for entry in &kustomization.patches {
            patch::transform(resources, entry, &scene)
                .map_err(|error| error.at(&self.file, entry.pos))?;
            self.finish(resources, "PatchTransformer", 1);
        }
        if !kustomization.namespace.is_empty() {
            namespace::transform(resources, &kustomization.namespace, &config.namespace, &scene)?;
            self.finish(resources, "NamespaceTransformer", 1);
        }
        if !kustomization.name_prefix.is_empty() {
            prefix::transform(resources, &kustomization.name_prefix, &config.name_prefix, &scene)?;
            self.finish(resources, "PrefixTransformer", 1);
        }
        if !kustomization.name_suffix.is_empty() {
            suffix::transform(resources, &kustomization.name_suffix, &config.name_suffix, &scene)?;
            self.finish(resources, "SuffixTransformer", 1);
        }
        if !kustomization.labels.is_empty() || !kustomization.common_labels.is_empty() {
            for label in &kustomization.labels {
                let specs = label_specs(label, config)?;
                labels::transform(resources, &label.pairs, &specs, &scene)?;
            }
            let specs = &config.common_labels;
            labels::transform(resources, &kustomization.common_labels, specs, &scene)?;
            self.finish(resources, "LabelTransformer", kustomization.labels.len() + 1);
        }
        if !kustomization.common_annotations.is_empty() {
            let specs = &config.common_annotations;
            annotations::transform(resources, &kustomization.common_annotations, specs, &scene)?;
            self.finish(resources, "AnnotationsTransformer", 1);
        }
        for entry in &kustomization.patches_json6902 {
            patch::json6902(resources, entry, &scene)
                .map_err(|error| error.at(&self.file, entry.pos))?;
            self.finish(resources, "PatchJson6902Transformer", 1);
        }
        for replica in &kustomization.replicas {
            replicas::transform(resources, replica, &config.replicas, &scene)
                .map_err(|error| error.at(&self.file, replica.pos))?;
            self.finish(resources, "ReplicaCountTransformer", 1);
        }
        if !kustomization.images.is_empty() {
            images::transform(resources, &kustomization.images, &config.images, &scene)?;
            self.finish(resources, "ImageTagTransformer", kustomization.images.len());
        }
        if !kustomization.replacements.is_empty() {
            replacement::transform(resources, &kustomization.replacements, &scene)?;
            self.finish(resources, "ReplacementTransformer", 1);
        }
        for (plugin, provenance) in &plugins {
            plugin.transform(resources, &scene)?;
            record(resources, provenance.as_ref(), 1);
        }
        Ok(())
    }

    /// What follows every transformer: a note of it on each resource, and no empty resources.
    fn finish(&self, resources: &mut ResMap, kind: &'static str, times: usize) {
        record(resources, self.builtin(kind).as_ref(), times);
    }

    fn run_validators(&self, resources: &mut ResMap, state: &mut State<'_>) -> Result<()> {
        for (plugin, _) in self.plugins(&self.kustomization.validators, state)? {
            // What a validator may leave behind, a label, stays.
            let before = resources.clone();
            plugin.transform(resources, &self.scene(state))?;
            plugins::check_unchanged(&before, resources, &state.schema)?;
        }
        Ok(())
    }

    /// The plugins that `generators`, `transformers` or `validators` name: each entry is a
    /// configuration written in place, a file, or a kustomization that builds some.
    fn plugins(
        &self,
        entries: &[Located],
        state: &mut State<'_>,
    ) -> Result<Vec<(Plugin, Option<Provenance>)>> {
        let mut configurations = Accumulator::default();
        let mut elsewhere = Vec::new();
        for entry in entries {
            let Ok(inline) =
                read::resources(&Content::from(&entry.text), &self.file, entry.pos.line)
            else {
                elsewhere.push(entry.clone());
                continue;
            };
            for mut resource in inline {
                if let Some(here) = &self.provenance {
                    let name = self.file.file_name().and_then(|name| name.to_str());
                    resource.set_annotation(ORIGIN, here.join(name.unwrap_or_default()).to_yaml());
                }
                configurations.resources.append(resource, &state.schema)?;
            }
        }
        self.add_resources(&mut configurations, &elsewhere, state)?;
        let scene = self.scene(state);
        configurations
            .resources
            .iter()
            .map(|resource| Ok((plugins::load(resource, &scene)?, Provenance::of_plugin(resource))))
            .collect()
    }
}

impl Accumulator {
    fn merge(&mut self, other: Self, state: &State<'_>) -> Result<()> {
        self.resources.append_all(other.resources, &state.schema)?;
        self.config.merge(&other.config)?;
        self.vars.merge(other.vars)
    }
}

/// Adds what a generator made.
fn absorb(
    resources: &mut ResMap,
    mut generated: ResMap,
    provenance: Option<Provenance>,
    state: &State<'_>,
) -> Result<()> {
    if let Some(provenance) = provenance {
        for resource in generated.bodies_mut() {
            if resource.annotation(ORIGIN).is_none() {
                resource.set_annotation(ORIGIN, provenance.to_yaml());
            }
        }
    }
    resources.absorb_all(generated, &state.schema).within(|| "merging from generator")
}

fn record(resources: &mut ResMap, provenance: Option<&Provenance>, times: usize) {
    if let Some(provenance) = provenance {
        for resource in resources.bodies_mut() {
            (0..times).for_each(|_| provenance.record_on(resource));
        }
    }
    resources.drop_empties();
}

/// The fields that an entry of `labels` reaches.
fn label_specs(label: &Label, config: &TransformerConfig) -> Result<FieldSpecs> {
    let mut specs = FieldSpecs::Owned(label.fields.clone());
    merge_specs(&mut specs, &config.labels)?;
    if label.include_selectors {
        merge_specs(&mut specs, &config.common_labels)?;
    } else {
        if label.include_templates {
            merge_specs(&mut specs, &config.template_labels)?;
        }
        merge_spec(&mut specs, &FieldSpec::anywhere("metadata/labels"))?;
    }
    Ok(specs)
}
