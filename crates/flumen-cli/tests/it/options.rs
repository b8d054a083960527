//! Options of `flumen build` reach the engine, and kustomize's spellings are understood.

use crate::{Scratch, config_map};

#[test]
fn the_current_directory_is_the_default() {
    let scratch = Scratch::new();
    scratch.write("kustomization.yaml", "resources: [a]\n");
    scratch.check(&["build"], &config_map("a"));
}

#[test]
fn several_paths_are_joined_in_their_order() {
    let scratch = Scratch::new();
    let expected = format!("{}---\n{}", config_map("b"), config_map("a"));
    scratch.check(&["build", "b", "a"], &expected);
}

#[test]
fn json_is_one_object_on_each_line() {
    let scratch = Scratch::new();
    let line = |name| {
        format!(
            "{{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{{\"name\":\"{name}\"}}}}\n"
        )
    };
    scratch.check(&["build", "both", "--format", "json"], &[line("a"), line("b")].concat());
    scratch.check(&["build", "--format=json", "b", "a"], &[line("b"), line("a")].concat());
}

#[test]
fn the_load_restrictor_is_passed_on() {
    let scratch = Scratch::new();
    scratch.write("c/kustomization.yaml", "resources: [../a/map.yaml]\n");
    scratch.check_refused(&["build", "c"], 1, &["security; file", "is not in or below"]);
    scratch.check_refused(&["build", "--load-restrictor=", "c"], 1, &["security; file"]);
    let anywhere = ["build", "--load-restrictor", "LoadRestrictionsNone", "c"];
    scratch.check(&anywhere, &config_map("a"));
}

#[test]
fn the_order_is_passed_on() {
    let scratch = Scratch::new();
    let namespace = "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: first\n";
    scratch.write("n/kustomization.yaml", "resources: [map.yaml, namespace.yaml]\n");
    scratch.write("n/map.yaml", &config_map("a"));
    scratch.write("n/namespace.yaml", namespace);
    let written = format!("{}---\n{namespace}", config_map("a"));
    let sorted = format!("{namespace}---\n{}", config_map("a"));
    scratch.check(&["build", "--reorder", "none", "n"], &written);
    scratch.check(&["build", "--reorder", "legacy", "n"], &sorted);
    scratch.check(&["build", "--reorder=none", "--reorder=legacy", "n"], &sorted);
}

#[test]
fn the_managed_by_label_comes_by_option() {
    let scratch = Scratch::new();
    let labelled = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  labels:\n    \
                    app.kubernetes.io/managed-by: kustomize-v5.8.1\n  name: a\n";
    scratch.check(&["build", "--enable-managedby-label", "a"], labelled);
    scratch.check(&["build", "a", "--enable-managedby-label=true"], labelled);
    scratch.check(&["build", "--enable-managedby-label=false", "a"], &config_map("a"));
}

#[test]
fn options_for_charts_and_functions_are_accepted() {
    let scratch = Scratch::new();
    for options in [
        &["--enable-helm", "--helm-command", "helm3", "--helm-debug"][..],
        &["--helm-api-versions", "a/v1", "--helm-api-versions=b/v1", "--helm-kube-version=1.30"],
        &["-e", "A=B", "--env=C", "-eD=E", "--mount", "type=bind,src=/", "--as-current-user"],
        &["--network", "--network-name", "host", "--stack-trace"],
    ] {
        scratch.check(&[&["build", "a"], options].concat(), &config_map("a"));
    }
}

#[test]
fn options_that_would_start_programs_are_refused_with_the_reason() {
    let scratch = Scratch::new();
    for option in ["--enable-alpha-plugins", "--enable-exec", "--enable-star"] {
        scratch.check_refused(&["build", "a", option], 1, &[option, "starts no program"]);
        scratch.check(&["build", "a", &format!("{option}=false")], &config_map("a"));
    }
}

#[test]
fn only_wrong_options_end_with_status_two() {
    let scratch = Scratch::new();
    scratch.check_refused(&["build", "--nope", "a"], 2, &["--nope"]);
    scratch.check_refused(&["build", "--load-restrictor", "Whatever", "a"], 2, &["Whatever"]);
    scratch.check_refused(&["build", "--reorder=sideways", "a"], 2, &["legacy, none"]);
    scratch.check_refused(&["build", "--enable-helm=perhaps", "a"], 2, &["true or false"]);
    scratch.check_refused(&["build", "--output"], 2, &["--output"]);
    scratch.check_refused(&["bulid"], 2, &["bulid", "build"]);
    scratch.check_refused(&[], 2, &["Usage: flumen"]);
}

#[test]
fn options_may_stand_before_the_command() {
    let scratch = Scratch::new();
    let check = |args: &[&str], said: &str| {
        let outcome = scratch.flumen(args);
        assert_eq!((outcome.status, outcome.stderr.as_str()), (Some(1), said), "{args:?}");
    };
    let no_label = "✗ namespace must be a valid DNS label: \"No\"\n";
    check(&["-n", "No", "get", "ks"], no_label);
    check(&["--timeout=1s", "--namespace", "No", "reconcile", "source", "git", "x"], no_label);
    check(&["-n", "apps", "get", "ks", "--frobnicate"], "✗ unknown flag: --frobnicate\n");
    scratch.check(&["--format", "yaml", "build", "a"], &config_map("a"));
    for args in [&["--frobnicate", "get", "ks"][..], &["-n", "apps", "frobnicate"]] {
        scratch.check_refused(args, 2, &["error: unexpected argument", args[0]]);
    }
}

#[test]
fn the_server_has_no_short_name_where_flux_has_none() {
    let scratch = Scratch::new();
    let said = "✗ unknown shorthand flag: 's' in -s\n";
    for command in ["get", "reconcile", "suspend", "resume", "tree"] {
        let outcome = scratch.flumen(&[command, "kustomization", "-s", "https://x.invalid"]);
        assert_eq!((outcome.status, outcome.stderr.as_str()), (Some(1), said), "{command}");
    }
    let outcome = scratch.flumen(&["events", "-s", "https://x.invalid"]);
    assert_eq!((outcome.status, outcome.stderr.as_str()), (Some(1), said));
    let own = ["get", "inventory", "-s", "https://127.0.0.1:9", "--request-timeout=1s"];
    let outcome = scratch.flumen(&own);
    assert!(!outcome.stderr.contains("unknown shorthand"), "{}", outcome.stderr);
}

#[test]
fn flags_of_the_controller_that_change_nothing_are_named() {
    let scratch = Scratch::new();
    let outcome = scratch.flumen(&[
        "controller",
        "--kubeconfig=absent",
        "--events-addr=http://notification-controller",
        "--kube-api-qps=50",
        "--artifact-digest-algo=sha256",
        "--override-manager-before-dry-run=old",
        "--feature-gates=MigrateAPIVersion=true,GroupChangeLog=true,ObjectLevelWorkloadIdentity=false",
    ]);
    assert_eq!(outcome.status, Some(1), "{}", outcome.stderr);
    let said = "note: has no meaning here, and is ignored: --kube-api-qps, feature gate GroupChangeLog\n\
                note: is not supported yet, and is ignored: --events-addr, feature gate MigrateAPIVersion\n";
    assert!(outcome.stderr.starts_with(said), "{}", outcome.stderr);
}
