//! Equal input gives an equal layer, whatever the disk looks like.

use std::{collections::BTreeSet, fs};

use flumen_oci::Document;

use crate::{Project, config_map};

/// How often each way of writing the files is built.
const BUILDS: usize = 100;
const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];

/// Writes the same files in an order and with permissions of its own.
fn write(project: &Project, turn: usize) {
    let resources: Vec<String> = NAMES.iter().map(|name| format!("{name}.yaml")).collect();
    let mut files: Vec<(String, String)> =
        NAMES.iter().map(|name| (format!("{name}.yaml"), config_map(name))).collect();
    let generator = "configMapGenerator: [{name: gen, files: [a.yaml, e.yaml]}]";
    files.push((
        "kustomization.yaml".to_owned(),
        format!("resources: [{}]\n{generator}\n", resources.join(", ")),
    ));
    let length = files.len();
    files.rotate_left(turn % length);
    if turn % 2 == 1 {
        files.reverse();
    }
    let _ = fs::remove_dir_all(project.path("source"));
    for (name, content) in files {
        let path = format!("source/app/{name}");
        project.write(&path, &content);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = [0o600, 0o644, 0o755][turn % 3];
            let permissions = fs::Permissions::from_mode(mode);
            fs::set_permissions(project.path(&path), permissions).expect("permissions");
        }
    }
}

#[tokio::test]
async fn three_hundred_builds_have_one_layer() {
    let mut layers = BTreeSet::new();
    for turn in 0..3 {
        let project =
            Project::with_component("kustomize.path = \"app\"\npublic_repo.repo = \"../source\"\n");
        let mut environment = project.environment();
        environment.caching = flumen_pipeline::Caching::BuildAlways;
        for build in 0..BUILDS {
            write(&project, turn + build);
            let artifact = project.build_in(&environment).await.expect("built");
            let pulled = project.pull(&artifact).await;
            let Document::Manifest(manifest) = pulled.manifest.parse().expect("a manifest") else {
                panic!("an index")
            };
            layers.insert(manifest.layers[0].digest.to_string());
        }
    }
    assert_eq!(layers.len(), 1, "{layers:?}");
}
