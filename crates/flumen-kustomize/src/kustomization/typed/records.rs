//! The types of kustomize 5.8 that a kustomization file is read into.

use super::{Presence, Record, Shape};

/// Writes down a struct; a dot in a name stands before each field of an embedded struct.
macro_rules! record {
    ($id:ident = $name:literal { $($field:literal: $($always:ident)? ($shape:expr)),+ $(,)? }) => {
        pub(super) static $id: Record = Record {
            name: $name,
            fields: &[$($field),+],
            shapes: &[$((presence!($($always)?), $shape)),+],
        };
    };
}

macro_rules! presence {
    () => {
        Presence::Filled
    };
    (always) => {
        Presence::Always
    };
}

const TEXT: Shape = Shape::Text("string");
const TEXTS: Shape = Shape::Texts("string");

record!(KUSTOMIZATION = "types.Kustomization" {
    "TypeMeta.apiVersion": (TEXT),
    "TypeMeta.kind": (TEXT),
    "metadata": (Shape::Pointer(&OBJECT_META)),
    "openapi": (Shape::Pairs),
    "namePrefix": (TEXT),
    "nameSuffix": (TEXT),
    "namespace": (TEXT),
    "commonLabels": (Shape::Pairs),
    "labels": (Shape::Structs(&LABEL)),
    "commonAnnotations": (Shape::Pairs),
    "patchesStrategicMerge": (Shape::Texts("types.PatchStrategicMerge")),
    "patchesJson6902": (Shape::Structs(&PATCH)),
    "patches": (Shape::Structs(&PATCH)),
    "images": (Shape::Structs(&IMAGE)),
    "imageTags": (Shape::Structs(&IMAGE)),
    "replacements": (Shape::Structs(&REPLACEMENT)),
    "replicas": (Shape::Structs(&REPLICA)),
    "vars": (Shape::Structs(&VAR)),
    "sortOptions": (Shape::Pointer(&SORT_OPTIONS)),
    "resources": (TEXTS),
    "components": (TEXTS),
    "crds": (TEXTS),
    "bases": (TEXTS),
    "configMapGenerator": (Shape::Structs(&CONFIG_MAP)),
    "secretGenerator": (Shape::Structs(&SECRET)),
    "helmGlobals": (Shape::Pointer(&HELM_GLOBALS)),
    "helmCharts": (Shape::Structs(&HELM_CHART)),
    "helmChartInflationGenerator": (Shape::Structs(&OLD_HELM_CHART)),
    "generatorOptions": (Shape::Pointer(&GENERATOR_OPTIONS)),
    "configurations": (TEXTS),
    "generators": (TEXTS),
    "transformers": (TEXTS),
    "validators": (TEXTS),
    "buildMetadata": (TEXTS),
});

record!(OBJECT_META = "types.ObjectMeta" {
    "name": (TEXT),
    "namespace": (TEXT),
    "labels": (Shape::Pairs),
    "annotations": (Shape::Pairs),
});

record!(LABEL = "types.Label" {
    "pairs": (Shape::Pairs),
    "includeSelectors": (Shape::Bool),
    "includeTemplates": (Shape::Bool),
    "fields": (Shape::Structs(&FIELD_SPEC)),
});

record!(FIELD_SPEC = "types.FieldSpec" {
    "Gvk.group": (TEXT),
    "Gvk.version": (TEXT),
    "Gvk.kind": (TEXT),
    "path": (TEXT),
    "create": (Shape::Bool),
});

record!(PATCH = "types.Patch" {
    "path": (TEXT),
    "patch": (TEXT),
    "target": (Shape::Pointer(&SELECTOR)),
    "options": (Shape::Pointer(&PATCH_ARGS)),
});

record!(PATCH_ARGS = "types.PatchArgs" {
    "allowNameChange": (Shape::Bool),
    "allowKindChange": (Shape::Bool),
});

record!(SELECTOR = "types.Selector" {
    "ResId.Gvk.group": (TEXT),
    "ResId.Gvk.version": (TEXT),
    "ResId.Gvk.kind": (TEXT),
    "ResId.name": (TEXT),
    "ResId.namespace": (TEXT),
    "annotationSelector": (TEXT),
    "labelSelector": (TEXT),
});

record!(IMAGE = "types.Image" {
    "name": (TEXT),
    "newName": (TEXT),
    "tagSuffix": (TEXT),
    "newTag": (TEXT),
    "digest": (TEXT),
});

record!(REPLACEMENT = "types.ReplacementField" {
    "Replacement.source": (Shape::Pointer(&SOURCE_SELECTOR)),
    "Replacement.targets": (Shape::Pointers("*types.TargetSelector", &TARGET_SELECTOR)),
    "Replacement.sourceValue": (Shape::TextPointer),
    "path": (TEXT),
});

record!(SOURCE_SELECTOR = "types.SourceSelector" {
    "ResId.Gvk.group": (TEXT),
    "ResId.Gvk.version": (TEXT),
    "ResId.Gvk.kind": (TEXT),
    "ResId.name": (TEXT),
    "ResId.namespace": (TEXT),
    "fieldPath": (TEXT),
    "options": (Shape::Pointer(&FIELD_OPTIONS)),
});

record!(TARGET_SELECTOR = "types.TargetSelector" {
    "select": always (Shape::Pointer(&SELECTOR)),
    "reject": (Shape::Pointers("*types.Selector", &SELECTOR)),
    "fieldPaths": (TEXTS),
    "options": (Shape::Pointer(&FIELD_OPTIONS)),
});

record!(FIELD_OPTIONS = "types.FieldOptions" {
    "delimiter": (TEXT),
    "index": (Shape::Integer("int")),
    "encoding": (TEXT),
    "create": (Shape::Bool),
});

record!(REPLICA = "types.Replica" {
    "name": (TEXT),
    "count": always (Shape::Integer("int64")),
});

record!(VAR = "types.Var" {
    "name": always (TEXT),
    "objref": always (Shape::Struct(&VAR_TARGET)),
    "fieldref": always (Shape::Struct(&FIELD_SELECTOR)),
});

record!(VAR_TARGET = "types.Target" {
    "apiVersion": (TEXT),
    "Gvk.group": (TEXT),
    "Gvk.version": (TEXT),
    "Gvk.kind": (TEXT),
    "name": always (TEXT),
    "namespace": (TEXT),
});

record!(FIELD_SELECTOR = "types.FieldSelector" { "fieldPath": (TEXT) });

record!(SORT_OPTIONS = "types.SortOptions" {
    "order": (Shape::Text("types.SortOrder")),
    "legacySortOptions": (Shape::Pointer(&LEGACY_SORT_OPTIONS)),
});

record!(LEGACY_SORT_OPTIONS = "types.LegacySortOptions" {
    "orderFirst": always (TEXTS),
    "orderLast": always (TEXTS),
});

record!(CONFIG_MAP = "types.ConfigMapArgs" {
    "GeneratorArgs.namespace": (TEXT),
    "GeneratorArgs.name": (TEXT),
    "GeneratorArgs.behavior": (TEXT),
    "GeneratorArgs.KvPairSources.literals": (TEXTS),
    "GeneratorArgs.KvPairSources.files": (TEXTS),
    "GeneratorArgs.KvPairSources.envs": (TEXTS),
    "GeneratorArgs.KvPairSources.env": (TEXT),
    "GeneratorArgs.options": (Shape::Pointer(&GENERATOR_OPTIONS)),
});

record!(SECRET = "types.SecretArgs" {
    "GeneratorArgs.namespace": (TEXT),
    "GeneratorArgs.name": (TEXT),
    "GeneratorArgs.behavior": (TEXT),
    "GeneratorArgs.KvPairSources.literals": (TEXTS),
    "GeneratorArgs.KvPairSources.files": (TEXTS),
    "GeneratorArgs.KvPairSources.envs": (TEXTS),
    "GeneratorArgs.KvPairSources.env": (TEXT),
    "GeneratorArgs.options": (Shape::Pointer(&GENERATOR_OPTIONS)),
    "type": (TEXT),
});

record!(GENERATOR_OPTIONS = "types.GeneratorOptions" {
    "labels": (Shape::Pairs),
    "annotations": (Shape::Pairs),
    "disableNameSuffixHash": (Shape::Bool),
    "immutable": (Shape::Bool),
});

record!(HELM_GLOBALS = "types.HelmGlobals" {
    "chartHome": (TEXT),
    "configHome": (TEXT),
});

record!(HELM_CHART = "types.HelmChart" {
    "name": (TEXT),
    "version": (TEXT),
    "repo": (TEXT),
    "releaseName": (TEXT),
    "namespace": (TEXT),
    "additionalValuesFiles": (TEXTS),
    "valuesFile": (TEXT),
    "valuesInline": (Shape::Object),
    "valuesMerge": (TEXT),
    "includeCRDs": (Shape::Bool),
    "skipHooks": (Shape::Bool),
    "apiVersions": (TEXTS),
    "kubeVersion": (TEXT),
    "nameTemplate": (TEXT),
    "skipTests": (Shape::Bool),
    "debug": (Shape::Bool),
    "devel": (Shape::Bool),
});

record!(OLD_HELM_CHART = "types.HelmChartArgs" {
    "chartName": (TEXT),
    "chartVersion": (TEXT),
    "chartRepoUrl": (TEXT),
    "chartHome": (TEXT),
    "chartRepoName": (TEXT),
    "helmBin": (TEXT),
    "helmHome": (TEXT),
    "values": (TEXT),
    "valuesLocal": (Shape::Object),
    "valuesMerge": (TEXT),
    "releaseName": (TEXT),
    "releaseNamespace": (TEXT),
    "extraArgs": (TEXTS),
});
