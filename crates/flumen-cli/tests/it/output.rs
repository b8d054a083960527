//! `-o`: a file, or one file for each object.

use std::{fs, os::unix::fs::symlink};

use crate::{Scratch, config_map};

const OBJECTS: &str = "\
apiVersion: v1
kind: Namespace
metadata:
  name: N
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: Web
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: system:x
";

fn with_objects(more: &str) -> Scratch {
    let scratch = Scratch::new();
    scratch.write("c/kustomization.yaml", "resources: [all.yaml]\n");
    scratch.write("c/all.yaml", &format!("{OBJECTS}{more}"));
    fs::create_dir(scratch.path().join("out")).expect("directory");
    scratch
}

#[test]
fn a_file_is_replaced_whole() {
    let scratch = Scratch::new();
    scratch.write("out.yaml", "old and much longer than what will be written there, much longer\n");
    scratch.check(&["build", "a", "-o", "out.yaml"], "");
    assert_eq!(scratch.read("out.yaml"), config_map("a"));
    scratch.check(&["build", "a", "b", "--output=out.yaml"], "");
    assert_eq!(scratch.read("out.yaml"), format!("{}---\n{}", config_map("a"), config_map("b")));
    assert_eq!(scratch.names("."), ["a", "b", "both", "out.yaml"]);
}

#[test]
fn an_empty_name_means_stdout() {
    Scratch::new().check(&["build", "a", "--output="], &config_map("a"));
}

#[test]
fn a_link_stays_a_link() {
    let scratch = Scratch::new();
    scratch.write("real.yaml", "");
    symlink("real.yaml", scratch.path().join("link.yaml")).expect("link");
    scratch.check(&["build", "a", "-o", "link.yaml"], "");
    assert_eq!(scratch.read("real.yaml"), config_map("a"));
}

#[test]
fn a_missing_directory_is_wrong_input() {
    let scratch = Scratch::new();
    scratch.check_refused(&["build", "a", "-o", "no/out.yaml"], 1, &["cannot write `no/out.yaml`"]);
}

#[test]
fn a_directory_gets_a_file_for_each_object() {
    let scratch = with_objects("");
    scratch.check(&["build", "c", "-o", "out"], "");
    let names = [
        "apps_v1_deployment_web.yaml",
        "rbac.authorization.k8s.io_v1_clusterrole_system:x.yaml",
        "v1_namespace_n.yaml",
    ];
    assert_eq!(scratch.names("out"), names);
    let deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: Web\n";
    assert_eq!(scratch.read("out/apps_v1_deployment_web.yaml"), deployment);
}

#[test]
fn two_namespaces_stand_before_the_names() {
    let more = "---\napiVersion: v1\nkind: Service\nmetadata:\n  name: s\n  namespace: Other\n";
    let scratch = with_objects(more);
    scratch.check(&["build", "c", "-o", "out"], "");
    let names = [
        "default_apps_v1_deployment_web.yaml",
        "other_v1_service_s.yaml",
        "rbac.authorization.k8s.io_v1_clusterrole_system:x.yaml",
        "v1_namespace_n.yaml",
    ];
    assert_eq!(scratch.names("out"), names);
}

#[test]
fn json_files_are_called_so() {
    let scratch = with_objects("");
    scratch.check(&["build", "a", "-o", "out", "--format=json"], "");
    assert_eq!(scratch.names("out"), ["v1_configmap_a.json"]);
}

#[test]
fn objects_never_share_a_file() {
    let scratch = with_objects("");
    let message = ["two objects", "v1_configmap_a.yaml"];
    scratch.check_refused(&["build", "a", "both", "-o", "out"], 1, &message);
    assert!(scratch.names("out").is_empty());
}

#[test]
fn names_never_lead_out_of_the_directory() {
    let more = "---\napiVersion: v1\nkind: Secret\nmetadata:\n  name: x/../../../a/map\n";
    let scratch = with_objects(more);
    scratch.check_refused(&["build", "c", "-o", "out"], 1, &["is no name of a file"]);
    assert!(scratch.names("out").is_empty());
    assert_eq!(scratch.read("a/map.yaml"), config_map("a"));
}
