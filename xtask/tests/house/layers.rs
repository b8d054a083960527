//! Dependencies point downwards.
//!
//! Every crate has a layer. A crate may use crates of its own layer and of lower ones, never of a
//! higher one, and the layers up to the engines must not reach an async runtime, an HTTP library or
//! a cluster client even through others: they are to build, run and be tested without any of that.

use std::{
    collections::{BTreeMap, BTreeSet},
    env,
    process::Command,
};

use flumen_testkit::repository_root;
use serde_json::Value;

/// The layer of each crate. A new crate must be placed here.
const LAYERS: [(&str, u8); 36] = [
    // 0: stand-ins for published crates
    ("i18n-embed", 0),
    ("i18n-embed-fl", 0),
    ("rust-embed", 0),
    // 0: languages
    ("flumen-yaml", 0),
    ("flumen-expr", 0),
    // 1: the object model
    ("flumen-object", 1),
    ("flumen-schema", 1),
    ("flumen-patch", 1),
    ("flumen-fields", 1),
    ("flumen-cel", 1),
    ("flumen-api", 1),
    // 2: engines
    ("flumen-fs", 2),
    ("flumen-archive", 2),
    ("flumen-kustomize", 2),
    ("flumen-build", 2),
    ("flumen-diff", 2),
    ("flumen-health", 2),
    ("flumen-kinds", 2),
    ("flumen-crd", 2),
    // 3: the outside world
    ("flumen-sign", 3),
    ("flumen-oci", 3),
    ("flumen-git", 3),
    ("flumen-kube", 3),
    ("flumen-source", 3),
    ("flumen-serve", 3),
    // 4: delivery
    ("flumen-runtime", 4),
    ("flumen-apply", 4),
    ("flumen-pipeline", 4),
    ("flumen-controller", 4),
    ("flumen-inspect", 4),
    // 5: embedded mode
    ("flumen-registry", 5),
    ("flumen-store", 5),
    ("flumen-apiserver", 5),
    ("flumen-sim", 5),
    ("flumen-local", 5),
    // 6: surfaces
    ("flumen-cli", 6),
];

/// Crates for tests and tasks; nothing that ships may need them.
const DEVELOPMENT: [&str; 2] = ["flumen-testkit", "xtask"];

/// The highest layer that knows nothing of the outside world.
const ENGINES: u8 = 2;
const OUTSIDE_WORLD: [&str; 5] = ["tokio", "reqwest", "hyper", "kube", "k8s-openapi"];

fn layer(name: &str) -> Option<u8> {
    LAYERS.iter().find(|(known, _)| *known == name).map(|(_, layer)| *layer)
}

/// What ships: each package and the packages it needs to be built and run, without tests.
struct Graph {
    members: BTreeSet<String>,
    needs: BTreeMap<String, BTreeSet<String>>,
}

impl Graph {
    fn read() -> Self {
        let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let host = Command::new("rustc").arg("-vV").output().expect("rustc runs").stdout;
        let host = String::from_utf8_lossy(&host)
            .lines()
            .find_map(|line| line.strip_prefix("host: ").map(str::to_owned))
            .expect("rustc names its host");
        let output = Command::new(cargo)
            .args(["metadata", "--format-version", "1", "--filter-platform", &host])
            .current_dir(repository_root())
            .output()
            .expect("cargo runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Self::from_metadata(&serde_json::from_slice(&output.stdout).expect("metadata is JSON"))
    }

    fn from_metadata(metadata: &Value) -> Self {
        let array = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let names: BTreeMap<String, String> = array(&metadata["packages"])
            .iter()
            .map(|package| (text(&package["id"]), text(&package["name"])))
            .collect();
        let members = array(&metadata["workspace_members"])
            .iter()
            .map(|id| names[&text(id)].clone())
            .collect();
        let mut needs: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for node in array(&metadata["resolve"]["nodes"]) {
            let found = needs.entry(names[&text(&node["id"])].clone()).or_default();
            for dependency in array(&node["deps"]) {
                let ships =
                    array(&dependency["dep_kinds"]).iter().any(|kind| kind["kind"] != "dev");
                if ships {
                    found.insert(names[&text(&dependency["pkg"])].clone());
                }
            }
        }
        Self { members, needs }
    }

    /// Everything a package reaches.
    fn reach(&self, package: &str) -> BTreeSet<&str> {
        let mut reached = BTreeSet::new();
        let mut open = vec![package];
        while let Some(package) = open.pop() {
            for needed in self.needs.get(package).into_iter().flatten() {
                if reached.insert(needed.as_str()) {
                    open.push(needed);
                }
            }
        }
        reached
    }

    fn violations(&self) -> Vec<String> {
        let mut found = Vec::new();
        for member in self.members.iter().filter(|name| !DEVELOPMENT.contains(&name.as_str())) {
            let Some(own) = layer(member) else {
                found.push(format!("`{member}` has no layer; give it one in `LAYERS`"));
                continue;
            };
            for needed in self.needs.get(member).into_iter().flatten() {
                if DEVELOPMENT.contains(&needed.as_str()) {
                    found.push(format!("`{member}` ships with `{needed}`, which is for tests"));
                } else if layer(needed).is_some_and(|layer| layer > own) {
                    found.push(format!("`{member}` depends on `{needed}` of a higher layer"));
                }
            }
            if own <= ENGINES {
                let reached = self.reach(member);
                for outside in OUTSIDE_WORLD.iter().filter(|name| reached.contains(*name)) {
                    found.push(format!("`{member}` reaches `{outside}`"));
                }
            }
        }
        found
    }
}

#[test]
fn dependencies_point_downwards() {
    let violations = Graph::read().violations();
    assert!(violations.is_empty(), "{}", violations.join("\n"));
}

#[test]
fn every_layered_crate_exists() {
    let members = Graph::read().members;
    for (name, _) in LAYERS {
        assert!(members.contains(name), "`{name}` has a layer but is no crate of the workspace");
    }
}

#[test]
fn violations_are_found() {
    let package = |name: &str| serde_json::json!({"id": name, "name": name});
    let node = |id: &str, needs: &[(&str, Option<&str>)]| {
        let deps: Vec<_> = needs
            .iter()
            .map(|(pkg, kind)| serde_json::json!({"pkg": pkg, "dep_kinds": [{"kind": kind}]}))
            .collect();
        serde_json::json!({"id": id, "deps": deps})
    };
    let names = ["flumen-yaml", "flumen-cli", "flumen-new", "flumen-testkit", "tower", "hyper"];
    let metadata = serde_json::json!({
        "packages": names.map(package),
        "workspace_members": ["flumen-yaml", "flumen-cli", "flumen-new", "flumen-testkit"],
        "resolve": {"nodes": [
            node("flumen-yaml", &[("flumen-cli", None), ("tower", None)]),
            node("flumen-cli", &[("flumen-testkit", Some("dev")), ("hyper", None)]),
            node("flumen-new", &[]),
            node("tower", &[("hyper", Some("build"))]),
        ]},
    });
    assert_eq!(
        Graph::from_metadata(&metadata).violations(),
        [
            "`flumen-new` has no layer; give it one in `LAYERS`",
            "`flumen-yaml` depends on `flumen-cli` of a higher layer",
            "`flumen-yaml` reaches `hyper`",
        ]
    );
}
