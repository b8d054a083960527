//! Inputs that are hostile by their size: made here, since storing them would be a burden.

use std::{fs, path::Path};

use super::{Expectation, judge};

const OBJECT: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n";

/// Builds a kustomization that lists one file with the given content.
#[track_caller]
fn check_resource(content: impl AsRef<[u8]>, expectation: &Expectation) {
    check_tree(expectation, |root| {
        write(root, "kustomization.yaml", "resources: [a.yaml]\n");
        write(root, "a.yaml", content);
    });
}

/// Builds a kustomization with the given text; `a.yaml` is an ordinary object.
#[track_caller]
fn check_kustomization(content: impl AsRef<[u8]>, expectation: &Expectation) {
    check_tree(expectation, |root| {
        write(root, "kustomization.yaml", content);
        write(root, "a.yaml", OBJECT);
    });
}

#[track_caller]
fn check_tree(expectation: &Expectation, make: impl FnOnce(&Path)) {
    let scratch = tempfile::tempdir().expect("scratch directory");
    make(scratch.path());
    let faults = judge(&["build".to_owned(), ".".to_owned()], scratch.path(), expectation);
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

fn write(root: &Path, path: &str, content: impl AsRef<[u8]>) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().expect("below the root")).expect("directory is made");
    fs::write(path, content).expect("file is written");
}

#[test]
fn deep_flow_sequences_are_refused() {
    let depth = 100_000;
    check_resource(format!("{OBJECT}data: {}", "[".repeat(depth)), &Expectation::refuse());
    let closed = format!("{OBJECT}data: {}{}\n", "[".repeat(depth), "]".repeat(depth));
    check_resource(closed, &Expectation::refuse());
}

#[test]
fn deep_flow_mappings_are_refused() {
    let depth = 100_000;
    let content = format!("{OBJECT}data: {}x{}\n", "{a: ".repeat(depth), "}".repeat(depth));
    check_resource(content, &Expectation::refuse());
}

#[test]
fn deep_block_sequences_are_refused() {
    check_resource(format!("{OBJECT}data:\n{}x\n", "- ".repeat(50_000)), &Expectation::refuse());
}

#[test]
fn deep_block_mappings_are_refused() {
    let mut content = OBJECT.to_owned();
    for depth in 0..2000 {
        content.push_str(&" ".repeat(depth));
        content.push_str("data:\n");
    }
    check_resource(content, &Expectation::refuse());
}

#[test]
fn many_anchors_are_no_trouble() {
    use std::fmt::Write as _;
    let mut content = format!("{OBJECT}data:\n");
    for number in 0..20_000 {
        let _ = writeln!(content, "  k{number}: &a{number} x\n  l{number}: *a{number}");
    }
    check_resource(content, &Expectation::either());
}

#[test]
fn a_merge_of_many_maps_is_no_trouble() {
    let mut content = format!("{OBJECT}data:\n  a: &a {{x: y}}\n  b:\n    <<: [");
    content.push_str(&"*a, ".repeat(20_000));
    content.push_str("]\n");
    check_resource(content, &Expectation::either());
}

#[test]
fn many_empty_documents_are_no_trouble() {
    check_resource("---\n".repeat(50_000), &Expectation::either());
}

#[test]
fn long_scalars_are_no_trouble() {
    let content = format!("{OBJECT}data: {{a: {}}}\n", "x".repeat(2_000_000));
    check_resource(content, &Expectation::either());
}

#[test]
fn long_keys_are_no_trouble() {
    let content = format!("{OBJECT}data:\n  {}: x\n", "k".repeat(1_000_000));
    check_resource(content, &Expectation::either());
}

#[test]
fn long_numbers_are_no_trouble() {
    let content =
        format!("{OBJECT}data: {{a: 0x{}, b: 1e{}}}\n", "f".repeat(100_000), "9".repeat(9));
    check_resource(content, &Expectation::either());
}

#[test]
fn long_names_make_short_messages() {
    let content = format!("apiVersion: v1\nkind: {}\nmetadata: {{}}\n", "K".repeat(200_000));
    check_resource(content, &Expectation::refuse());
}

#[test]
fn many_unknown_fields_make_short_messages() {
    use std::fmt::Write as _;
    let mut content = "resources: [a.yaml]\n".to_owned();
    for number in 0..5000 {
        let _ = writeln!(content, "unknown{number}: x");
    }
    check_kustomization(content, &Expectation::refuse());
}

#[test]
fn one_file_many_times_is_refused() {
    check_kustomization(
        format!("resources:\n{}", "- a.yaml\n".repeat(20_000)),
        &Expectation::refuse(),
    );
}

#[test]
fn a_pointer_of_many_parts_is_refused() {
    let patch =
        format!("[{{\"op\": \"add\", \"path\": \"{}\", \"value\": 1}}]", "/a".repeat(50_000));
    let content = format!(
        "resources: [a.yaml]\npatches:\n- target: {{kind: ConfigMap}}\n  patch: '{patch}'\n"
    );
    check_kustomization(content, &Expectation::refuse());
}

#[test]
fn an_expression_of_many_alternatives_is_no_trouble() {
    let expression = (0..5000).map(|number| format!("n{number}")).collect::<Vec<_>>().join("|");
    let content = format!(
        "resources: [a.yaml]\npatches:\n- target: {{name: \"{expression}\"}}\n  \
         patch: '[{{\"op\": \"remove\", \"path\": \"/data\"}}]'\n"
    );
    check_kustomization(content, &Expectation::either());
}

#[test]
fn a_long_line_of_an_env_file_is_no_trouble() {
    check_tree(&Expectation::either(), |root| {
        write(root, "kustomization.yaml", "configMapGenerator: [{name: c, envs: [e.env]}]\n");
        write(root, "e.env", format!("KEY={}\n", "x".repeat(1_000_000)));
    });
}

#[test]
fn a_long_chain_of_overlays_is_no_trouble() {
    check_tree(&Expectation::either(), |root| {
        write(root, "kustomization.yaml", "resources: [l0]\n");
        let last = 200;
        for level in 0..last {
            let text = format!("resources: [../l{}]\nnamePrefix: x\n", level + 1);
            write(root, &format!("l{level}/kustomization.yaml"), text);
        }
        write(root, &format!("l{last}/kustomization.yaml"), "resources: [a.yaml]\n");
        write(root, &format!("l{last}/a.yaml"), OBJECT);
    });
}

#[test]
fn paths_that_multiply_are_no_trouble() {
    check_tree(&Expectation::either(), |root| {
        write(root, "kustomization.yaml", "resources: [a0, b0]\n");
        let last = 12;
        for level in 0..last {
            let next = level + 1;
            for side in ["a", "b"] {
                let text = format!("resources: [../a{next}, ../b{next}]\n");
                write(root, &format!("{side}{level}/kustomization.yaml"), text);
            }
        }
        for side in ["a", "b"] {
            write(root, &format!("{side}{last}/kustomization.yaml"), "namePrefix: x\n");
        }
    });
}
