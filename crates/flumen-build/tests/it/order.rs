//! The order of the reference, as recorded from it.

use std::{fs, sync::Arc};

use flumen_build::{Inputs, Options, build};
use flumen_fs::MemoryTree;
use serde_json::Value;

#[test]
fn objects_come_in_the_order_of_the_reference() {
    let Some(shared) = flumen_testkit::shared_dir() else {
        flumen_testkit::skip("apply order", "no shared corpus");
        return;
    };
    let cases = fs::read_to_string(shared.join("corpus/flux/inventory.jsonl")).expect("corpus");
    let mut checked = 0;
    for line in cases.lines().filter(|line| line.contains("\"inventory/sort/")) {
        let case: Value = serde_json::from_str(line).expect("a case");
        let list = serde_json::json!({
            "apiVersion": "v1", "kind": "List", "items": case["input"]["objects"],
        });
        let inputs = Inputs {
            documents: vec![("objects.json".to_owned(), list.to_string().into_bytes())],
            ..Inputs::default()
        };
        let built =
            build(Arc::new(MemoryTree::new()), &inputs, &Options::default()).expect("objects");
        let order: Vec<String> =
            built.objects.iter().map(|object| object.id().inventory_id()).collect();
        assert_eq!(serde_json::json!(order), case["expect"]["apply"], "{}", case["id"]);
        checked += 1;
    }
    assert!(checked > 0, "the corpus has no such cases");
}
