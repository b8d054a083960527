//! Expectations are what kustomize 5.8.1 says to the same file.

use flumen_fs::MemoryTree;

use super::*;
use crate::{content::Content, loader::LoadRestriction};

fn parsed(text: &str, warnings: &mut Vec<String>) -> Result<Kustomization> {
    let file = Path::new("/app/kustomization.yaml");
    let node = first_document(&Content::from(text.as_bytes()), file)?;
    parse(&node, file, Path::new("/app"), warnings)
}

#[track_caller]
fn read(text: &str) -> Kustomization {
    parsed(text, &mut Vec::new()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Checks the message after `invalid Kustomization: json: ` and the place.
#[track_caller]
fn check_invalid(text: &str, at: (u32, u32), expected: &str) {
    let error = parsed(text, &mut Vec::new()).expect_err(text);
    let message = error.to_string();
    assert_eq!(message.strip_prefix("invalid Kustomization: json: "), Some(expected), "{text}");
    let location = error.location().expect("a place");
    assert_eq!((location.pos.line, location.pos.column), at, "{text}");
}

#[track_caller]
fn check_error(text: &str, expected: &str) {
    let error = parsed(text, &mut Vec::new()).expect_err(text);
    assert_eq!(error.to_string(), expected, "{text}");
}

#[track_caller]
fn check_hint(text: &str, expected: &str) {
    let error = parsed(text, &mut Vec::new()).expect_err(text);
    assert_eq!(error.hint_text(), Some(expected), "{text}");
}

fn texts(located: &[fields::Located]) -> Vec<&str> {
    located.iter().map(|item| item.text.as_str()).collect()
}

#[test]
fn fields_of_every_shape_are_read() {
    let k = read(
        "namePrefix: a-\n\
         resources: [x, z]\n\
         commonLabels: {a: b}\n\
         images:\n- {name: web, newTag: '1'}\n\
         replicas: [{name: r, count: 0x10}]\n\
         labels: [{pairs: {p: q}, includeSelectors: on, fields: [{path: a/b, create: true}]}]\n\
         patches: [{path: p, target: {kind: K, labelSelector: s}, options: {allowNameChange: true}}]\n\
         vars: [{name: V, objref: {apiVersion: apps/v1, kind: D, name: d}}]\n\
         sortOptions: {order: legacy, legacySortOptions: {orderFirst: [A]}}\n",
    );
    assert_eq!(k.name_prefix, "a-");
    assert_eq!(texts(&k.resources), ["x", "z"]);
    assert_eq!(k.common_labels, [("a".into(), "b".into())]);
    assert_eq!(k.images[0].new_tag, "1");
    assert_eq!(k.replicas[0].count, 16);
    assert!(k.labels[0].include_selectors && k.labels[0].fields[0].create);
    assert_eq!(k.labels[0].fields[0].path, "a/b");
    assert!(k.patches[0].allow_name_change && !k.patches[0].allow_kind_change);
    let target = k.patches[0].target.as_ref().expect("a target");
    assert_eq!((target.kind.as_str(), target.label_selector.as_str()), ("K", "s"));
    let var = &k.vars[0];
    assert_eq!((var.group.as_str(), var.version.as_str()), ("apps", "v1"));
    assert_eq!(var.field_path, "metadata.name");
    let legacy = k.sort_options.and_then(|options| options.legacy).expect("options");
    assert_eq!(legacy.order_first, ["A"]);
}

#[test]
fn replacements_are_read() {
    let k = read(
        "replacements:\n\
         - path: r.yaml\n\
         - source: {kind: S, fieldPath: a.b, options: {delimiter: ':', index: -1}}\n  \
           targets: [{select: {name: web}, reject: [{name: m}], fieldPaths: [x]}]\n\
         - sourceValue: ''\n",
    );
    assert_eq!(k.replacements[0].path, "r.yaml");
    let replacement = &k.replacements[1].replacement;
    let source = replacement.source.as_ref().expect("a source");
    assert_eq!((source.kind.as_str(), source.field_path.as_str()), ("S", "a.b"));
    assert_eq!(source.options.as_ref().map(|options| options.index), Some(-1));
    assert_eq!(replacement.targets[0].reject[0].name, "m");
    assert_eq!(texts(&replacement.targets[0].field_paths), ["x"]);
    assert_eq!(k.replacements[2].replacement.source_value.as_deref(), Some(""));
}

#[test]
fn names_match_in_any_case() {
    let k = read("NAMEPREFIX: a\nKind: Component\nre\u{17f}ources: [x]\n");
    assert_eq!((k.name_prefix.as_str(), k.kind.as_str()), ("a", "Component"));
    assert_eq!(texts(&k.resources), ["x"]);
    assert_eq!(k.api_version, COMPONENT_API_VERSION);
}

#[test]
fn the_last_of_two_spellings_counts() {
    assert_eq!(read("namePrefix: a\nNamePrefix: b\n").name_prefix, "a");
    assert_eq!(texts(&read("Resources: [x]\nresources: [z]\n").resources), ["z"]);
    check_error(
        "commonLabels: {a: b}\nCommonLabels: {c: d}\n",
        "invalid Kustomization: `commonLabels` is given in two spellings",
    );
}

#[test]
fn old_fields_become_new_ones() {
    let mut warnings = Vec::new();
    let k = parsed(
        "vars: []\nbases: [b]\nresources: [r]\nimageTags: [{name: old}]\nimages: [{name: new}]\n\
         commonLabels: {}\n\
         secretGenerator: [{name: s, env: one.env, envs: [two.env]}]\n",
        &mut warnings,
    )
    .expect("valid");
    assert_eq!(texts(&k.resources), ["r", "b"]);
    assert_eq!(k.images.iter().map(|image| &*image.name).collect::<Vec<_>>(), ["new", "old"]);
    assert_eq!(texts(&k.secret_generator[0].envs), ["two.env", "one.env"]);
    let fix = "Run 'kustomize edit fix' to update your Kustomization automatically.";
    assert_eq!(
        warnings,
        [
            format!("# Warning: 'bases' is deprecated. Please use 'resources' instead. {fix}"),
            format!("# Warning: 'commonLabels' is deprecated. Please use 'labels' instead. {fix}"),
            format!("# Warning: 'imageTags' is deprecated. Please use 'images' instead. {fix}"),
            format!(
                "# Warning: 'vars' is deprecated. Please use 'replacements' instead. \
                 [EXPERIMENTAL] {fix}"
            ),
        ]
    );
}

#[test]
fn the_last_of_equal_keys_counts() {
    let mut warnings = Vec::new();
    let k = parsed(
        "namePrefix: a\nnamePrefix: b\ncommonAnnotations: {x: 'a', x: 'b'}\n",
        &mut warnings,
    );
    let k = k.expect("valid");
    assert_eq!(k.name_prefix, "b");
    assert_eq!(k.common_annotations, [("x".into(), "b".into())]);
    assert!(warnings[0].contains("kustomization.yaml:2: 'namePrefix'"), "{warnings:?}");
}

#[test]
fn later_documents_are_not_looked_at() {
    assert_eq!(read("namePrefix: a\n---\nfoo: [\n").name_prefix, "a");
}

#[test]
fn null_means_nothing() {
    let k = read("resources: ~\nimages: null\nnamespace:\ncomponents: [c, null]\nmetadata: {}\n");
    assert!(k.resources.is_empty() && k.images.is_empty() && k.namespace.is_empty());
    assert_eq!(texts(&k.components), ["c", ""]);
}

#[test]
fn wrong_types_are_located() {
    let cannot = |what: &str| format!("cannot unmarshal {what}");
    let check = |text, at, expected| check_invalid(text, at, &cannot(expected));
    check(
        "namespace: 1\n",
        (1, 12),
        "number into Go struct field Kustomization.namespace of type string",
    );
    check(
        "namePrefix: yes\n",
        (1, 13),
        "bool into Go struct field Kustomization.namePrefix of type string",
    );
    check(
        "resources: a\n",
        (1, 12),
        "string into Go struct field Kustomization.resources of type []string",
    );
    check(
        "resources:\n- x\n- a: b\n",
        (3, 3),
        "object into Go struct field Kustomization.resources of type string",
    );
    check(
        "images:\n- name: a\n  newTag: 1.0\n",
        (3, 11),
        "number into Go struct field Image.images.newTag of type string",
    );
    check(
        "images: {a: b}\n",
        (1, 9),
        "object into Go struct field Kustomization.images of type []types.Image",
    );
    check(
        "images: [a]\n",
        (1, 10),
        "string into Go struct field Kustomization.images of type types.Image",
    );
    check(
        "commonLabels: {a: yes}\n",
        (1, 19),
        "bool into Go struct field Kustomization.commonLabels of type string",
    );
    check(
        "commonLabels: [a]\n",
        (1, 15),
        "array into Go struct field Kustomization.commonLabels of type map[string]string",
    );
    check(
        "labels: [{fields: [{kind: 1}]}]\n",
        (1, 27),
        "number into Go struct field FieldSpec.labels.fields.Gvk.kind of type string",
    );
    check(
        "patches: [{target: {kind: 1}}]\n",
        (1, 27),
        "number into Go struct field Selector.patches.target.ResId.Gvk.kind of type string",
    );
    check(
        "patches: [{target: 1}]\n",
        (1, 20),
        "number into Go struct field Patch.patches.target of type types.Selector",
    );
    check(
        "replicas: [{count: 1.5}]\n",
        (1, 20),
        "number 1.5 into Go struct field Replica.replicas.count of type int64",
    );
    check(
        "replicas: [{count: '1'}]\n",
        (1, 20),
        "string into Go struct field Replica.replicas.count of type int64",
    );
    check(
        "replicas: [{count: 1e30}]\n",
        (1, 20),
        "number 1e+30 into Go struct field Replica.replicas.count of type int64",
    );
    check(
        "replicas: [{count: 99999999999999999999}]\n",
        (1, 20),
        "number 100000000000000000000 into Go struct field Replica.replicas.count of type int64",
    );
    check(
        "replacements: [{targets: 1}]\n",
        (1, 26),
        "number into Go struct field ReplacementField.replacements.Replacement.targets of type []*types.TargetSelector",
    );
    check(
        "configMapGenerator: [{literals: [1]}]\n",
        (1, 34),
        "number into Go struct field ConfigMapArgs.configMapGenerator.GeneratorArgs.KvPairSources.literals of type string",
    );
    check(
        "sortOptions: {order: 1}\n",
        (1, 22),
        "number into Go struct field SortOptions.sortOptions.order of type types.SortOrder",
    );
    check(
        "patchesStrategicMerge: [{a: b}]\n",
        (1, 25),
        "object into Go struct field Kustomization.patchesStrategicMerge of type types.PatchStrategicMerge",
    );
    check(
        "apiVersion: 1\n",
        (1, 13),
        "number into Go struct field Kustomization.TypeMeta.apiVersion of type string",
    );
    check(
        "helmCharts: [{valuesInline: 1}]\n",
        (1, 29),
        "number into Go struct field HelmChart.helmCharts.valuesInline of type map[string]interface {}",
    );
    check("- a\n", (1, 1), "array into Go value of type types.Kustomization");
    check("a\n", (1, 1), "string into Go value of type types.Kustomization");
}

#[test]
fn whole_floats_are_integers() {
    assert_eq!(read("replicas: [{count: 1e3}]\n").replicas[0].count, 1000);
    assert_eq!(read("replicas: [{count: 3.0}]\n").replicas[0].count, 3);
}

#[test]
fn dates_are_strings() {
    assert_eq!(read("namePrefix: 2020-01-01\n").name_prefix, "2020-01-01");
}

#[test]
fn unknown_fields_are_refused() {
    check_invalid("resources: []\nnameprefixx: a\n", (2, 1), "unknown field \"nameprefixx\"");
    check_hint("nameprefixx: a\n", "did you mean `namePrefix`?");
    check_invalid("images: [{newtags: a}]\n", (1, 11), "unknown field \"newtags\"");
    check_hint("images: [{newtags: a}]\n", "did you mean `newTag`?");
    check_invalid("metadata: {foo: 1}\n", (1, 12), "unknown field \"foo\"");
    check_hint("patches: [{target: {knd: 1}}]\n", "did you mean `kind`?");
    check_invalid("\"\\u001b[31m\": b\n", (1, 1), "unknown field \"\\u{1b}[31m\"");
}

#[test]
fn mistakes_have_hints() {
    check_hint("images: [{newTag: 1.0}]\n", "put it in quotes to make it a string");
    check_hint("resources: a\n", "a list is wanted: begin each item with `- `");
    check_hint("labels: [{includeSelectors: 'true'}]\n", "write true or false, without quotes");
}

#[test]
fn secrets_stay_out_of_messages() {
    for text in [
        "secretGenerator: [{literals: hunter2}]\n",
        "secretGenerator: [{literals: [{p: hunter2}]}]\n",
        "secretGenerator: [{name: s, literals: [a=b], options: hunter2}]\n",
    ] {
        let error = parsed(text, &mut Vec::new()).expect_err(text);
        assert!(!format!("{error} {:?}", error.hint_text()).contains("hunter2"), "{error}");
    }
}

#[test]
fn empty_files_are_refused() {
    for text in [
        "",
        "# nothing\n",
        "---\n",
        "kind: Kustomization\n",
        "namePrefix: ''\n",
        "bases: []\n",
        "resources:\n",
    ] {
        check_error(text, "kustomization.yaml is empty");
    }
    read("resources: []\n");
    read("metadata: {}\n");
    read("commonLabels: {}\n");
}

#[test]
fn kind_and_version_are_enforced() {
    let fail = |faults: &str| format!("Failed to read kustomization file under /app:\n{faults}");
    let version = "apiVersion for Kustomization should be kustomize.config.k8s.io/v1beta1";
    check_error("kind: Foo\nresources: []\n", &fail("kind should be Kustomization or Component"));
    check_error("apiVersion: v1\nresources: []\n", &fail(version));
    check_error(
        "kind: Component\napiVersion: v1\nresources: []\n",
        &fail("apiVersion for Component should be kustomize.config.k8s.io/v1alpha1"),
    );
    check_error(
        "kind: Foo\napiVersion: v1\nresources: []\n",
        &fail(
            "kind should be Kustomization or Component\n\
             apiVersion for Foo should be kustomize.config.k8s.io/v1beta1",
        ),
    );
}

#[test]
fn broken_yaml_is_located() {
    let error = parsed("namePrefix: a\nimages: [\n", &mut Vec::new()).expect_err("broken");
    assert_eq!(error.location().map(|location| location.pos.line), Some(3), "{error}");
}

/// What the whole error says to a user, line included.
fn shown(text: &str) -> String {
    let mut tree = MemoryTree::new();
    tree.insert_file("/app/kustomization.yaml", text);
    let tree = Arc::new(tree);
    let loader = Loader::open(tree.clone(), Path::new("/app"), LoadRestriction::RootOnly, None);
    let error = load(&loader.expect("a directory"), &mut Vec::new()).expect_err(text);
    format!("{:?}", error.with_line_text(&*tree))
}

#[test]
fn lines_with_secrets_are_not_shown() {
    for text in [
        "secretGenerator: [{literals: hunter2}]\n",
        "secretGenerator: [{litrals: [hunter2]}]\n",
        "secretGenerator:\n- literals:\n  - 'a=hunter2\n",
    ] {
        let shown = shown(text);
        assert!(!shown.contains("hunter2"), "{shown}");
    }
    assert!(shown("images: hunter2\n").contains("hunter2"), "other lines are");
}

fn find_in(names: &[&str]) -> Result<(Arc<Path>, Kustomization)> {
    let mut tree = MemoryTree::new();
    tree.insert_dir("/app");
    for name in names {
        tree.insert_file(format!("/app/{name}"), "namePrefix: a\n");
    }
    let loader = Loader::open(Arc::new(tree), Path::new("/app"), LoadRestriction::RootOnly, None)?;
    load(&loader, &mut Vec::new())
}

#[test]
fn three_names_are_recognised() {
    for name in FILE_NAMES {
        let (file, _) = find_in(&[name, "other.yaml"]).expect("found");
        assert_eq!(file.file_name(), Some(name.as_ref()));
    }
}

#[test]
fn several_files_are_refused() {
    let error = find_in(&["kustomization.yml", "Kustomization"]).expect_err("two");
    assert_eq!(error.to_string(), "Found multiple kustomization files under: /app");
}

#[test]
fn near_misses_are_pointed_out() {
    let error = find_in(&["deployment.yaml", "kustomise.yaml"]).expect_err("none");
    assert_eq!(
        error.to_string(),
        "unable to find one of 'kustomization.yaml', 'kustomization.yml' or 'Kustomization' in \
         directory '/app'"
    );
    assert_eq!(error.hint_text(), Some("found `kustomise.yaml`; is it misspelled?"));
    assert_eq!(find_in(&["deployment.yaml"]).expect_err("none").hint_text(), None);
}
