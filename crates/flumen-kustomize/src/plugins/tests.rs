//! Expectations are what kustomize 5.8.1 says to the same configuration.

use super::*;
use crate::{content::Content, transform::stage::on_stage};

fn loaded(kind: &str, config: &str, files: &[(&str, &[u8])]) -> Result<Plugin> {
    let text = format!("apiVersion: builtin\nkind: {kind}\nmetadata: {{name: p}}\n{config}");
    manifest(&text, files)
}

fn manifest(text: &str, files: &[(&str, &[u8])]) -> Result<Plugin> {
    on_stage(files, |scene| {
        let file = Arc::from(Path::new("/app/plugin.yaml"));
        let resources = read::resources(&Content::from(text.as_bytes()), &file, 1)?;
        load(resources.first().expect("a manifest"), scene)
    })
}

#[track_caller]
fn action(kind: &str, config: &str) -> Action {
    loaded(kind, config, &[]).unwrap_or_else(|error| panic!("{kind}: {error}")).action
}

/// Checks the message after `plugin … fails configuration: `.
#[track_caller]
fn check_refused(kind: &str, config: &str, expected: &str) {
    let error = loaded(kind, config, &[]).expect_err(config).to_string();
    let start = format!("plugin {kind}.builtin.[noGrp]/p.[noNs] fails configuration: ");
    assert_eq!(error.strip_prefix(&start), Some(expected), "{error}");
}

#[test]
fn every_kind_can_be_configured() {
    let minimal = [
        ("AnnotationsTransformer", ""),
        ("ConfigMapGenerator", ""),
        ("HashTransformer", ""),
        ("IAMPolicyGenerator", ""),
        ("ImageTagTransformer", ""),
        ("LabelTransformer", ""),
        ("NamespaceTransformer", ""),
        ("PatchJson6902Transformer", "path: x\ntarget: {name: t}\n"),
        ("PatchStrategicMergeTransformer", "paths: [x]\n"),
        ("PatchTransformer", "path: x\n"),
        ("PrefixSuffixTransformer", "fieldSpecs: []\n"),
        ("PrefixTransformer", "fieldSpecs: []\n"),
        ("ReplacementTransformer", ""),
        ("ReplicaCountTransformer", ""),
        ("SecretGenerator", ""),
        ("SuffixTransformer", "fieldSpecs: []\n"),
        ("ValueAddTransformer", "targets: [{fieldPath: x}]\n"),
    ];
    for (kind, config) in minimal {
        action(kind, config);
    }
    check_refused("HelmChartInflationGenerator", "", "must specify --enable-helm");
}

#[test]
fn generators_are_named_by_their_metadata() {
    let Action::Secret(args) =
        action("SecretGenerator", "literals: [a=b]\nenv: e\ntype: T\noptions: {immutable: true}\n")
    else {
        panic!("a generator of secrets")
    };
    assert_eq!((args.name.as_str(), args.secret_type.as_str()), ("p", "T"));
    assert_eq!((args.literals.len(), args.envs.len()), (1, 0), "`env` is ignored");
    assert!(args.options.is_some_and(|options| options.immutable));

    let Action::ConfigMap(args) = action("ConfigMapGenerator", "name: own\n") else {
        panic!("a generator of config maps")
    };
    assert_eq!(args.name, "own");
}

#[test]
fn namespaces_come_from_the_metadata() {
    let text = "apiVersion: builtin\nkind: NamespaceTransformer\n\
                metadata: {name: p, namespace: ns}\nunsetOnly: true\n\
                setRoleBindingSubjects: none\nfieldSpecs: [{path: a, create: true}]\n";
    let Action::Namespace(args, subjects) = manifest(text, &[]).expect("valid").action else {
        panic!("a namespace")
    };
    assert_eq!(args.namespace, "ns");
    assert!(args.unset_only && args.specs[0].create);
    assert_eq!(subjects, Subjects::None);
    check_refused(
        "NamespaceTransformer",
        "setRoleBindingSubjects: some\n",
        "invalid value \"some\" for setRoleBindingSubjects: must be one of \"defaultOnly\", \
         \"none\" or \"allServiceAccounts\"",
    );
}

#[test]
fn scalars_are_strings_where_strings_are_wanted() {
    let Action::Image(args) =
        action("ImageTagTransformer", "imageTag: {name: yes, newTag: 1.10, digest: 0x10}\n")
    else {
        panic!("an image")
    };
    assert_eq!((args.image.name.as_str(), args.image.new_tag.as_str()), ("yes", "1.1"));
    assert_eq!(args.image.digest, "16");
    let Action::Labels(args) = action("LabelTransformer", "labels: {a: 1, b: true}\n") else {
        panic!("labels")
    };
    assert_eq!(args.pairs, [("a".into(), "1".into()), ("b".into(), "true".into())]);
}

#[test]
fn names_match_in_any_case_and_unknown_ones_are_ignored() {
    let Action::Patch(patch) = action("PatchTransformer", "Path: x\nfoo: 1\n") else {
        panic!("a patch")
    };
    assert_eq!(patch.path, "x");
}

#[test]
fn incomplete_configurations_are_refused() {
    let which = "apiVersion: builtin\nkind: PatchTransformer\nmetadata:\n  name: p";
    check_refused(
        "PatchTransformer",
        "patch: '  '\n",
        &format!("must specify one of patch and path in\n{which}"),
    );
    check_refused(
        "PatchTransformer",
        "patch: a\npath: b\n",
        &format!("patch and path can't be set at the same time\n{which}"),
    );
    check_refused("PatchJson6902Transformer", "path: x\n", "must specify the target name");
    check_refused(
        "PatchJson6902Transformer",
        "target: {name: t}\n",
        "empty file path and empty jsonOp",
    );
    check_refused(
        "PatchJson6902Transformer",
        "target: {name: t}\npath: x\njsonOp: y\n",
        "must specify a file path or jsonOp, not both",
    );
    check_refused("PatchStrategicMergeTransformer", "", "empty file path and empty patch content");
    check_refused(
        "PatchStrategicMergeTransformer",
        "patches: thisIsNotAPatch\n",
        "missing Resource metadata",
    );
    check_refused("PrefixTransformer", "prefix: a\n", "fieldSpecs is not expected to be nil");
    check_refused("ValueAddTransformer", "", "must specify at least one target");
    check_refused("ValueAddTransformer", "targets: [{}]\n", "fieldPath cannot be empty");
    check_refused(
        "ValueAddTransformer",
        "targets: [{fieldPath: x, filePathPosition: -1}]\n",
        "value of FilePathPosition (-1) cannot be negative",
    );
}

#[test]
fn wrong_types_are_refused() {
    let decoding = |what: &str| {
        format!("error unmarshaling JSON: while decoding JSON: json: cannot unmarshal {what}")
    };
    check_refused(
        "PatchTransformer",
        "path: {a: b}\n",
        &decoding("object into Go struct field PatchTransformerPlugin.path of type string"),
    );
    check_refused(
        "SecretGenerator",
        "literals: hunter2\n",
        &decoding(
            "string into Go struct field SecretGeneratorPlugin.SecretArgs.GeneratorArgs.\
             KvPairSources.literals of type []string",
        ),
    );
    let error = loaded("PatchTransformer", "path: {a: b}\n", &[]).expect_err("wrong");
    let location = error.location().expect("a place");
    assert_eq!((location.file.as_path(), location.pos.line), (Path::new("/app/plugin.yaml"), 4));
}

#[test]
fn values_default_to_the_directory_and_targets_come_from_files() {
    let files: &[(&str, &[u8])] =
        &[("t.yaml", b"targets: [{fieldPath: b, selector: {kind: K}}]\n")];
    let config = "value: ' '\ntargets: [{fieldPath: a}]\ntargetFilePath: t.yaml\n";
    let plugin = loaded("ValueAddTransformer", config, files).expect("valid");
    let Action::ValueAdd(args) = plugin.action else { panic!("a value") };
    assert_eq!(args.value, "app");
    let targets: Vec<_> = args
        .targets()
        .map(|target| (target.field_path, target.selector.map(|selector| selector.kind.as_str())))
        .collect();
    assert_eq!(targets, [("a", None), ("b", Some("K"))]);
}

#[test]
fn other_plugins_are_refused() {
    let check = |text: &str, message: &str, hint: Option<&str>| {
        let error = manifest(text, &[]).expect_err(text);
        assert_eq!(error.to_string(), message);
        assert_eq!(error.hint_text(), hint);
    };
    let meta = "metadata: {name: p}\n";
    let external = "external plugins disabled; unable to load external plugin ";
    check(
        &format!("apiVersion: someteam.example.com/v1\nkind: StringPrefixer\n{meta}"),
        &format!("{external}'StringPrefixer'"),
        Some(
            "plugins other than those with `apiVersion: builtin` are programs, and a build runs no \
             programs",
        ),
    );
    check(
        &format!("apiVersion: v1\nkind: PatchTransformer\n{meta}"),
        &format!("{external}'PatchTransformer'"),
        Some("a built-in plugin has `apiVersion: builtin`"),
    );
    check(
        "apiVersion: v1\nkind: F\nmetadata:\n  name: f\n  annotations:\n    \
         config.kubernetes.io/function: 'exec: {path: ./evil}'\n",
        &format!("{external}'F'"),
        Some("functions are programs, and a build runs no programs"),
    );
    check(
        &format!("apiVersion: builtin\nkind: SortOrderTransformer\n{meta}"),
        "unable to load builtin SortOrderTransformer.builtin.[noGrp]",
        Some("use the field `sortOptions` of the outermost kustomization"),
    );
    check(
        &format!("apiVersion: builtin\nkind: PatchTransform\n{meta}"),
        "unable to load builtin PatchTransform.builtin.[noGrp]",
        Some("did you mean `PatchTransformer`?"),
    );
}
