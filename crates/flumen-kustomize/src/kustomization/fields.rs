//! What a kustomization file says, as types.
//!
//! Plugin configurations (`transformers:`, `generators:`) use the same types, so that a field and
//! the plugin behind it run the same code.

use flumen_yaml::{Pos, Text};

use crate::config::FieldSpec;

/// String pairs in the order of the file.
pub(crate) type Pairs = Vec<(Text, Text)>;

#[derive(Clone, Debug, Default)]
pub(crate) struct Kustomization {
    pub(crate) api_version: Text,
    pub(crate) kind: Text,
    /// `openapi`: `path`, `version`.
    pub(crate) openapi: Pairs,
    pub(crate) name_prefix: Text,
    pub(crate) name_suffix: Text,
    pub(crate) namespace: Text,
    pub(crate) common_labels: Pairs,
    pub(crate) labels: Vec<Label>,
    pub(crate) common_annotations: Pairs,
    pub(crate) patches_strategic_merge: Vec<Located>,
    pub(crate) patches_json6902: Vec<Patch>,
    pub(crate) patches: Vec<Patch>,
    /// `images` and the older `imageTags`.
    pub(crate) images: Vec<Image>,
    pub(crate) replacements: Vec<ReplacementField>,
    pub(crate) replicas: Vec<Replica>,
    pub(crate) vars: Vec<Var>,
    pub(crate) sort_options: Option<SortOptions>,
    /// `resources` and the older `bases`.
    pub(crate) resources: Vec<Located>,
    pub(crate) components: Vec<Located>,
    pub(crate) crds: Vec<Located>,
    pub(crate) config_map_generator: Vec<GeneratorArgs>,
    pub(crate) secret_generator: Vec<GeneratorArgs>,
    /// Where `helmCharts` or `helmChartInflationGenerator` stands, if there is a chart.
    pub(crate) helm_charts: Option<Pos>,
    pub(crate) generator_options: Option<GeneratorOptions>,
    pub(crate) configurations: Vec<Located>,
    pub(crate) generators: Vec<Located>,
    pub(crate) transformers: Vec<Located>,
    pub(crate) validators: Vec<Located>,
    pub(crate) build_metadata: Vec<Text>,
}

/// A string and its place in the kustomization file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Located {
    pub(crate) text: Text,
    pub(crate) pos: Pos,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Label {
    pub(crate) pairs: Pairs,
    pub(crate) include_selectors: bool,
    pub(crate) include_templates: bool,
    pub(crate) fields: Vec<FieldSpec>,
}

/// Chooses resources; empty parts choose all. Group, version, kind, name and namespace are regular
/// expressions that must match as a whole.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_field_names, reason = "the fields have the names of the file")]
pub(crate) struct Selector {
    pub(crate) group: Text,
    pub(crate) version: Text,
    pub(crate) kind: Text,
    pub(crate) name: Text,
    pub(crate) namespace: Text,
    pub(crate) label_selector: Text,
    pub(crate) annotation_selector: Text,
    pub(crate) pos: Pos,
}

/// An entry of `patches` or `patchesJson6902`.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_field_names, reason = "the fields have the names of the file")]
pub(crate) struct Patch {
    pub(crate) path: Text,
    /// The patch itself, inline.
    pub(crate) patch: Text,
    pub(crate) target: Option<Selector>,
    pub(crate) allow_name_change: bool,
    pub(crate) allow_kind_change: bool,
    pub(crate) pos: Pos,
    /// Where the text of an inline patch begins.
    pub(crate) patch_pos: Pos,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Image {
    pub(crate) name: Text,
    pub(crate) new_name: Text,
    pub(crate) tag_suffix: Text,
    pub(crate) new_tag: Text,
    pub(crate) digest: Text,
    pub(crate) pos: Pos,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Replica {
    pub(crate) name: Text,
    pub(crate) count: i64,
    pub(crate) pos: Pos,
}

/// An entry of `replacements`: a file that holds some, or one written in place.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReplacementField {
    pub(crate) path: Text,
    pub(crate) replacement: Replacement,
    pub(crate) pos: Pos,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Replacement {
    pub(crate) source: Option<SourceSelector>,
    pub(crate) source_value: Option<Text>,
    pub(crate) targets: Vec<ReplacementTarget>,
    pub(crate) pos: Pos,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct SourceSelector {
    pub(crate) group: Text,
    pub(crate) version: Text,
    pub(crate) kind: Text,
    pub(crate) name: Text,
    pub(crate) namespace: Text,
    pub(crate) field_path: Text,
    pub(crate) options: Option<FieldOptions>,
    pub(crate) pos: Pos,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct ReplacementTarget {
    pub(crate) select: Option<Selector>,
    pub(crate) reject: Vec<Selector>,
    pub(crate) field_paths: Vec<Located>,
    pub(crate) options: Option<FieldOptions>,
    pub(crate) pos: Pos,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct FieldOptions {
    pub(crate) delimiter: Text,
    pub(crate) index: i64,
    pub(crate) encoding: Text,
    pub(crate) create: bool,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Var {
    pub(crate) name: Text,
    /// Group, version and kind of the object, `apiVersion` already split.
    pub(crate) group: Text,
    pub(crate) version: Text,
    pub(crate) kind: Text,
    pub(crate) object_name: Text,
    pub(crate) namespace: Text,
    /// `apiVersion` as written, for comparing two definitions.
    pub(crate) api_version: Text,
    /// Defaults to `metadata.name`.
    pub(crate) field_path: Text,
    pub(crate) pos: Pos,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct SortOptions {
    pub(crate) order: Text,
    pub(crate) legacy: Option<LegacySortOptions>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct LegacySortOptions {
    pub(crate) order_first: Vec<Text>,
    pub(crate) order_last: Vec<Text>,
}

/// An entry of `configMapGenerator` or `secretGenerator`.
#[derive(Clone, Debug, Default)]
pub(crate) struct GeneratorArgs {
    pub(crate) name: Text,
    pub(crate) namespace: Text,
    pub(crate) behavior: Text,
    pub(crate) literals: Vec<Located>,
    pub(crate) files: Vec<Located>,
    /// `envs` and the older `env`.
    pub(crate) envs: Vec<Located>,
    /// The `type` of a secret.
    pub(crate) secret_type: Text,
    pub(crate) options: Option<GeneratorOptions>,
    pub(crate) pos: Pos,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct GeneratorOptions {
    pub(crate) labels: Pairs,
    pub(crate) annotations: Pairs,
    pub(crate) disable_name_suffix_hash: bool,
    pub(crate) immutable: bool,
}
