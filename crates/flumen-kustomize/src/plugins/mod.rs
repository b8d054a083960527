//! Plugins: what entries of `generators`, `transformers` and `validators` ask for.
//!
//! An entry is a manifest whose kind names the plugin. Those that kustomize has built in are built in
//! here too and run the same code as the fields of a kustomization. All others would be programs;
//! a build runs none.

mod config;
mod run;

use std::{path::Path, sync::Arc};

use flumen_expr::nearest;
use flumen_yaml::Text;

use self::config::{
    AffixArgs, ImageArgs, MergeArgs, NamespaceArgs, PairsArgs, ReplicaArgs, ValueAddArgs,
};
pub(crate) use self::run::check_unchanged;
use crate::{
    content::Content,
    decode::{Mode, Result as Read, Value, WHILE_DECODING, decode, decode_file},
    error::{Context, Error, Result},
    generate::IamPolicyArgs,
    kustomization::fields::{GeneratorArgs, Located, Patch, ReplacementField},
    read,
    resource::Resource,
    transform::{Scene, namespace::Subjects},
};

/// The `apiVersion` of plugins that need no program.
const BUILTIN: &str = "builtin";

/// A plugin that is ready to run.
#[derive(Debug)]
pub(crate) struct Plugin {
    action: Action,
    /// Where it is configured, for messages.
    file: Arc<Path>,
    /// The id of its configuration, as messages show it.
    id: String,
}

#[derive(Debug)]
enum Action {
    ConfigMap(GeneratorArgs),
    Secret(GeneratorArgs),
    IamPolicy(IamPolicyArgs),
    Annotations(PairsArgs),
    Labels(PairsArgs),
    Namespace(NamespaceArgs, Subjects),
    Prefix(AffixArgs),
    Suffix(AffixArgs),
    PrefixSuffix(AffixArgs, AffixArgs),
    Image(ImageArgs),
    Replica(ReplicaArgs),
    Patch(Patch),
    JsonPatch(Patch),
    MergePatches(Vec<Located>),
    Replacements(Vec<ReplacementField>),
    ValueAdd(ValueAddArgs),
    Hash,
}

/// Kinds that can be asked for.
const KINDS: [&str; 18] = [
    "AnnotationsTransformer",
    "ConfigMapGenerator",
    "HashTransformer",
    "HelmChartInflationGenerator",
    "IAMPolicyGenerator",
    "ImageTagTransformer",
    "LabelTransformer",
    "NamespaceTransformer",
    "PatchJson6902Transformer",
    "PatchStrategicMergeTransformer",
    "PatchTransformer",
    "PrefixSuffixTransformer",
    "PrefixTransformer",
    "ReplacementTransformer",
    "ReplicaCountTransformer",
    "SecretGenerator",
    "SuffixTransformer",
    "ValueAddTransformer",
];

/// Makes a plugin of its configuration.
pub(crate) fn load(resource: &Resource, scene: &Scene<'_>) -> Result<Plugin> {
    let source = Source {
        resource,
        scene,
        file: resource.origin.file.as_ref().unwrap_or(scene.file),
        kind: resource.kind(),
    };
    source.check_builtin().map_err(|error| error.at(source.file, resource.origin.pos))?;
    let id = resource.original_id(scene.schema).to_string();
    let action = source.action().map_err(|error| {
        error
            .at(source.file, resource.origin.pos)
            .within(format!("plugin {id} fails configuration"))
    })?;
    Ok(Plugin { action, file: Arc::clone(source.file), id })
}

/// The configuration of a plugin and what can be consulted about it.
struct Source<'a> {
    resource: &'a Resource,
    scene: &'a Scene<'a>,
    file: &'a Arc<Path>,
    kind: &'a str,
}

impl Source<'_> {
    fn check_builtin(&self) -> Result<()> {
        let id = self.resource.id(self.scene.schema);
        if !id.gvk.group.is_empty() || id.gvk.version != *BUILTIN {
            return Err(Error::new(format!(
                "external plugins disabled; unable to load external plugin '{}'",
                self.kind
            ))
            .hint(self.why_external()));
        }
        if KINDS.contains(&self.kind) {
            return Ok(());
        }
        let error = Error::new(format!("unable to load builtin {}", id.gvk));
        Err(match (self.kind, nearest(self.kind, KINDS)) {
            ("SortOrderTransformer", _) => {
                error.hint("use the field `sortOptions` of the outermost kustomization")
            }
            (_, Some(similar)) => error.hint(format!("did you mean `{similar}`?")),
            _ => error,
        })
    }

    fn why_external(&self) -> String {
        let is_function = ["config.kubernetes.io/function", "config.k8s.io/function"]
            .iter()
            .any(|key| self.resource.annotation(key).is_some());
        if is_function {
            "functions are programs, and a build runs no programs".to_owned()
        } else if KINDS.contains(&self.kind) {
            format!("a built-in plugin has `apiVersion: {BUILTIN}`")
        } else {
            format!(
                "plugins other than those with `apiVersion: {BUILTIN}` are programs, and a build \
                 runs no programs"
            )
        }
    }

    fn action(&self) -> Result<Action> {
        Ok(match self.kind {
            "ConfigMapGenerator" => Action::ConfigMap(self.read(config::config_map)?),
            "SecretGenerator" => Action::Secret(self.read(config::secret)?),
            "IAMPolicyGenerator" => Action::IamPolicy(self.read(config::iam_policy)?),
            "AnnotationsTransformer" => Action::Annotations(self.read(config::annotations)?),
            "LabelTransformer" => Action::Labels(self.read(config::labels)?),
            "NamespaceTransformer" => {
                let args = self
                    .read(config::namespace)
                    .within(|| "unmarshalling NamespaceTransformer config")?;
                let subjects = Subjects::parse(&args.subjects)?;
                Action::Namespace(args, subjects)
            }
            "PrefixTransformer" => Action::Prefix(self.affix(config::prefix)?),
            "SuffixTransformer" => Action::Suffix(self.affix(config::suffix)?),
            "PrefixSuffixTransformer" => {
                Action::PrefixSuffix(self.affix(config::prefix)?, self.affix(config::suffix)?)
            }
            "ImageTagTransformer" => Action::Image(self.read(config::image_tag)?),
            "ReplicaCountTransformer" => Action::Replica(self.read(config::replica_count)?),
            "PatchTransformer" => Action::Patch(self.patch()?),
            "PatchJson6902Transformer" => Action::JsonPatch(self.json_patch()?),
            "PatchStrategicMergeTransformer" => Action::MergePatches(self.merge_patches()?),
            "ReplacementTransformer" => Action::Replacements(self.read(config::replacements)?),
            "ValueAddTransformer" => Action::ValueAdd(self.value_add()?),
            "HashTransformer" => Action::Hash,
            _ => {
                return Err(Error::new("must specify --enable-helm").hint(
                    "charts are not available yet, with that flag neither: render the chart \
                     beforehand and list the result under `resources`",
                ));
            }
        })
    }

    fn read<T>(&self, reader: impl FnOnce(Value<'_>) -> Read<T>) -> Result<T> {
        decode(self.resource.node(), self.file, Mode::PLUGIN, reader).within(|| WHILE_DECODING)
    }

    fn affix(&self, reader: fn(Value<'_>) -> Read<AffixArgs>) -> Result<AffixArgs> {
        let args = self.read(reader)?;
        if args.specs.is_none() {
            return Err(Error::new("fieldSpecs is not expected to be nil")
                .hint("say where names are, for example `fieldSpecs: [{path: metadata/name}]`"));
        }
        Ok(args)
    }

    fn patch(&self) -> Result<Patch> {
        let patch = self.read(config::patch)?;
        let name = self.resource.name();
        // The configuration is named, not shown: nobody knows what is in it.
        let which =
            format!("apiVersion: {BUILTIN}\nkind: {}\nmetadata:\n  name: {name}", self.kind);
        match (patch.patch.trim().is_empty(), patch.path.is_empty()) {
            (true, true) => {
                Err(Error::new(format!("must specify one of patch and path in\n{which}")))
            }
            (false, false) => {
                Err(Error::new(format!("patch and path can't be set at the same time\n{which}")))
            }
            _ => Ok(patch),
        }
    }

    fn json_patch(&self) -> Result<Patch> {
        let patch = self.read(config::json_patch)?;
        if patch.target.as_ref().is_none_or(|target| target.name.is_empty()) {
            return Err(Error::new("must specify the target name"));
        }
        match (patch.patch.is_empty(), patch.path.is_empty()) {
            (true, true) => Err(Error::new("empty file path and empty jsonOp")),
            (false, false) => Err(Error::new("must specify a file path or jsonOp, not both")),
            _ => Ok(patch),
        }
    }

    fn merge_patches(&self) -> Result<Vec<Located>> {
        let MergeArgs { mut paths, patches } = self.read(config::merge_patches)?;
        if paths.is_empty() && patches.text.is_empty() {
            return Err(Error::new("empty file path and empty patch content"));
        }
        if !patches.text.is_empty() {
            // What is meant as a patch and is none must not be taken for the name of a file.
            read::resources(&Content::from(&patches.text), self.file, patches.pos.line)?;
            paths.push(patches);
        }
        Ok(paths)
    }

    fn value_add(&self) -> Result<ValueAddArgs> {
        let mut args = self.read(config::value_add)?;
        args.value = Text::from(args.value.trim());
        if args.value.is_empty() {
            let root = self.scene.loader.root().file_name();
            args.value =
                root.map_or(Text::literal("/"), |name| name.to_string_lossy().as_ref().into());
        }
        if !args.target_file.is_empty() {
            let file = self.scene.loader.read(&args.target_file)?;
            let more = decode_file(&file, Mode::AUXILIARY, config::value_add_targets)?;
            args.targets.extend(more);
        }
        if args.targets.is_empty() {
            return Err(Error::new("must specify at least one target"));
        }
        args.targets().try_for_each(|target| target.check())?;
        Ok(args)
    }
}

#[cfg(test)]
mod tests;
