use std::borrow::Cow;

use super::*;
use crate::{
    build_annotations,
    config::FieldSpec,
    transform::stage::{on_stage, printed, resources},
};

fn reference(kind: &str, referrers: &[(&str, &str)]) -> NameReference {
    let spec = |&(kind, path): &(&str, &str)| FieldSpec {
        group: Cow::Borrowed(""),
        version: Cow::Borrowed(""),
        kind: Cow::Owned(kind.to_owned()),
        path: Cow::Owned(path.to_owned()),
        create: false,
    };
    NameReference {
        group: Cow::Borrowed(""),
        version: Cow::Borrowed(""),
        kind: Cow::Owned(kind.to_owned()),
        referrers: Cow::Owned(referrers.iter().map(spec).collect()),
    }
}

fn rules() -> Vec<NameReference> {
    vec![
        reference(
            "ConfigMap",
            &[("Pod", "spec/volumes/configMap/name"), ("Pod", "spec/containers/envFrom/ref/name")],
        ),
        reference("Deployment", &[("Scaler", "spec/target/name")]),
        reference("StatefulSet", &[("Scaler", "spec/target/name")]),
        reference(
            "Secret",
            &[("Role", "rules/resourceNames"), ("ServiceAccount", "secrets[]/name")],
        ),
        reference(
            "ServiceAccount",
            &[("RoleBinding", "subjects"), ("ClusterRoleBinding", "subjects")],
        ),
        reference("Role", &[("RoleBinding", "roleRef/name")]),
        reference("ClusterRole", &[("RoleBinding", "roleRef/name")]),
    ]
}

fn run(yaml: &str) -> Result<ResMap> {
    let mut resources = resources(yaml);
    resources.resources_mut().iter_mut().for_each(build_annotations::absorb);
    on_stage(&[], |scene| transform(&mut resources, &rules(), scene))?;
    Ok(resources)
}

/// Checks the referrer, the first resource of `yaml`, after the transformation.
#[track_caller]
fn check(yaml: &str, expected: &str) {
    let result = run(yaml).expect("the references are good");
    let printed = printed(&result);
    let referrer = printed.split("---\n").next().unwrap_or_default();
    assert_eq!(referrer.trim(), expected.trim());
}

#[track_caller]
fn check_error(yaml: &str, expected: &str) {
    let error = run(yaml).expect_err("the references are broken").to_string();
    assert!(error.contains(expected), "{error}");
}

/// An object that was called `former` in `namespace`.
fn renamed(kind: &str, name: &str, namespace: &str, former: &str, more: &str) -> String {
    let here =
        if namespace == "default" { String::new() } else { format!(", namespace: {namespace}") };
    format!(
        "---\napiVersion: v1\nkind: {kind}\nmetadata: {{name: {name}{here}, annotations: {{\
         internal.config.kubernetes.io/previousNames: {former}, \
         internal.config.kubernetes.io/previousNamespaces: {namespace}, \
         internal.config.kubernetes.io/previousKinds: {kind}{more}}}}}\n"
    )
}

fn pod(spec: &str) -> String {
    format!("apiVersion: v1\nkind: Pod\nmetadata: {{name: p}}\nspec: {spec}\n")
}

const POD: &str = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\nspec:\n";

#[test]
fn a_new_name_is_written_wherever_the_old_one_stands() {
    let spec = "{volumes: [{configMap: {name: a}}, {configMap: {name: other}}, {}], \
                containers: [{envFrom: [{ref: {name: \"a\"}}]}]}";
    let yaml = pod(spec) + &renamed("ConfigMap", "x-a", "default", "a", "");
    check(
        &yaml,
        &format!(
            "{POD}  containers:\n  - envFrom:\n    - ref:\n        name: x-a\n  volumes:\n  \
             - configMap:\n      name: x-a\n  - configMap:\n      name: other\n  - {{}}\n"
        ),
    );
}

#[test]
fn objects_of_another_kind_or_namespace_are_not_meant() {
    let spec = "{volumes: [{configMap: {name: a}}]}";
    let same = format!("{POD}  volumes:\n  - configMap:\n      name: a\n");
    check(&(pod(spec) + &renamed("Secret", "x-a", "default", "a", "")), &same);
    check(&(pod(spec) + &renamed("ConfigMap", "x-a", "elsewhere", "a", "")), &same);
}

#[test]
fn rules_for_one_field_see_what_the_earlier_ones_wrote() {
    let scaler = "apiVersion: v1\nkind: Scaler\nmetadata: {name: s}\nspec: {target: {name: a}}\n";
    let yaml = scaler.to_owned()
        + &renamed("Deployment", "b", "default", "a", "")
        + &renamed("StatefulSet", "c", "default", "b", "");
    check(
        &yaml,
        "apiVersion: v1\nkind: Scaler\nmetadata:\n  name: s\nspec:\n  target:\n    name: c\n",
    );
}

#[test]
fn prefixes_decide_between_objects_of_one_former_name() {
    let prefixed = |prefix: &str| format!(", internal.config.kubernetes.io/prefixes: {prefix}");
    let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p, annotations: {\
         internal.config.kubernetes.io/prefixes: y-}}\nspec: {volumes: [{configMap: {name: a}}]}\n";
    let both = renamed("ConfigMap", "x-a", "default", "a", &prefixed("x-"))
        + &renamed("ConfigMap", "y-a", "default", "a", &prefixed("y-"));
    check(&format!("{pod}{both}"), &format!("{POD}  volumes:\n  - configMap:\n      name: y-a\n"));
    let ambiguous = renamed("ConfigMap", "x-a", "default", "a", &prefixed("y-"))
        + &renamed("ConfigMap", "y-a", "default", "a", &prefixed("y-"));
    check_error(
        &format!("{pod}{ambiguous}"),
        "updating name reference in 'spec/volumes/configMap/name' field of 'Pod.v1.[noGrp]/p.[noNs]': \
         considering field 'spec/volumes/configMap/name' of object Pod.v1.[noGrp]/p.[noNs]: \
         found multiple possible referrals: ConfigMap.v1.[noGrp]/x-a.[noNs], \
         ConfigMap.v1.[noGrp]/y-a.[noNs]",
    );
}

#[test]
fn names_in_a_list_are_each_looked_up() {
    let role =
        "apiVersion: v1\nkind: Role\nmetadata: {name: r}\nrules: [{resourceNames: [a, b]}]\n";
    check(
        &(role.to_owned() + &renamed("Secret", "x-a", "default", "a", "")),
        "apiVersion: v1\nkind: Role\nmetadata:\n  name: r\nrules:\n- resourceNames:\n  - x-a\n  - b\n",
    );
}

#[test]
fn a_subject_takes_over_name_and_namespace() {
    let account = renamed("ServiceAccount", "x-a", "prod", "a", "");
    let binding = |subject: &str| {
        format!(
            "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {{name: b}}\n\
             subjects: [{subject}]\n"
        )
    };
    let prefix = "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata:\n  name: b\nsubjects:\n";
    check(
        &(binding("{kind: ServiceAccount, name: a, namespace: prod}") + &account),
        &format!("{prefix}- kind: ServiceAccount\n  name: x-a\n  namespace: prod\n"),
    );
    check(
        &(binding("{kind: ServiceAccount, name: a, namespace: other}") + &account),
        &format!("{prefix}- kind: ServiceAccount\n  name: a\n  namespace: other\n"),
    );
    check_error(
        &(binding("{kind: ServiceAccount, name: a, namespace: null}") + &account),
        "Invalid Input: namespace is blank for resource",
    );
    check_error(&binding("{kind: Group}"), "path config error; no 'name' field in node");
}

#[test]
fn a_role_reference_says_which_kind_of_role() {
    let binding = |kind: &str| {
        format!(
            "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {{name: b}}\n\
             roleRef: {{apiGroup: '', kind: {kind}, name: a}}\n"
        )
    };
    let roles = renamed("Role", "r-a", "default", "a", "")
        + &renamed("ClusterRole", "c-a", "default", "a", "");
    for (kind, name) in [("Role", "r-a"), ("ClusterRole", "c-a")] {
        let expected = format!(
            "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata:\n  name: b\n\
             roleRef:\n  apiGroup: \"\"\n  kind: {kind}\n  name: {name}\n"
        );
        check(&(binding(kind) + &roles), &expected);
    }
}

#[test]
fn a_scalar_on_the_way_is_an_error_although_nothing_was_renamed() {
    check_error(&pod("{volumes: text}"), "expected sequence or mapping node");
    check(&pod("{volumes: null}"), &format!("{POD}  volumes: null\n"));
    let account = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: s}\nsecrets: null\n";
    check(account, "apiVersion: v1\nkind: ServiceAccount\nmetadata:\n  name: s\nsecrets: []\n");
}

#[test]
fn a_name_that_looks_like_a_number_keeps_its_quotes() {
    let yaml = |name: &str| {
        pod(&format!("{{volumes: [{{configMap: {{name: {name}}}}}]}}"))
            + &renamed("ConfigMap", "\"12\"", "default", "a", "")
    };
    check(&yaml("'a'"), &format!("{POD}  volumes:\n  - configMap:\n      name: \"12\"\n"));
    check(&yaml("a"), &format!("{POD}  volumes:\n  - configMap:\n      name: 12\n"));
}

#[test]
fn whoever_is_referred_to_is_marked() {
    let yaml = pod("{volumes: [{configMap: {name: a}}]}")
        + &renamed("ConfigMap", "a", "default", "a", "")
        + &renamed("ConfigMap", "b", "default", "b", "");
    let marks: Vec<bool> =
        run(&yaml).expect("good").iter().map(|resource| resource.is_referenced).collect();
    assert_eq!(marks, [false, true, false]);
}
