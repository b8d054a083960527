//! The table of kinds in the documentation says what the server serves.

use std::{collections::BTreeSet, fs};

use flumen_testkit::repository_root;
use serde_json::Value;

use crate::fixture::Fixture;

const FILE: &str = "docs/embedded.md";
const HEADING: &str = "| API | kind | verbs | below it | what becomes of it |";
/// Said as `all`.
const ALL: &str = "create, delete, deletecollection, get, list, patch, update, watch";
/// What is served because clients expect it, only to say that no container runs.
const REFUSED: [&str; 5] = ["attach", "exec", "log", "portforward", "proxy"];

#[tokio::test]
async fn the_table_of_kinds_is_true() {
    let server = Fixture::start().await;
    let mut versions = vec!["/api/v1".to_owned()];
    for group in array(&server.get("/apis").await.json()["groups"]) {
        let of_group = array(&group["versions"]).iter();
        versions
            .extend(of_group.map(|version| format!("/apis/{}", text(&version["groupVersion"]))));
    }
    let mut served = BTreeSet::new();
    for version in versions {
        served.extend(rows(&server.get(&version).await.json()));
    }
    let document = fs::read_to_string(repository_root().join(FILE)).expect("the document");
    let table = document.lines().skip_while(|line| *line != HEADING).skip(2);
    let documented: BTreeSet<String> = table
        .take_while(|line| line.starts_with('|'))
        .map(|row| {
            let (facts, becomes) = row.trim_end_matches(" |").rsplit_once(" | ").expect("cells");
            assert!(!becomes.trim().is_empty(), "{row}");
            facts.to_owned()
        })
        .collect();
    let missing: Vec<_> = served.difference(&documented).collect();
    let untrue: Vec<_> = documented.difference(&served).collect();
    assert!(missing.is_empty() && untrue.is_empty(), "missing {missing:#?}\nuntrue {untrue:#?}");
}

/// What the table has to say of the resources of a version.
fn rows(version: &Value) -> Vec<String> {
    let api = text(&version["groupVersion"]);
    let resources = array(&version["resources"]);
    let main = resources.iter().filter(|resource| !text(&resource["name"]).contains('/'));
    main.map(|resource| {
        let verbs = array(&resource["verbs"]).iter().map(text).collect::<Vec<_>>().join(", ");
        let verbs = if verbs == ALL { "all" } else { &verbs };
        let prefix = format!("{}/", text(&resource["name"]));
        let below = resources.iter().filter_map(|other| text(&other["name"]).strip_prefix(&prefix));
        let below = below.filter(|name| !REFUSED.contains(name)).collect::<Vec<_>>().join(", ");
        let kind = text(&resource["kind"]);
        let row = format!("| `{api}` | {kind} | {verbs} | {below}");
        row.trim_end().to_owned()
    })
    .collect()
}

fn array(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
