//! Manifests that stand in the component file.

use flumen_oci::{Digest, Document};
use flumen_pipeline::{
    BuildPlan, Error,
    job::{CancellationToken, Ended},
};

use crate::{Project, text};

/// With a comment and a style that no writer of ours would choose.
const MAP: &str = "# as written\napiVersion: v1\nkind: ConfigMap\nmetadata: { name: settings }\n";

fn inline(manifest: &str) -> String {
    format!("manifest = '''\n{manifest}'''\n")
}

#[tokio::test]
async fn acceptance_02_an_inline_manifest_is_packed_unchanged() {
    let project = Project::with_component(&inline(MAP));
    let artifact = project.build().await.expect("built");
    let pulled = project.pull(&artifact).await;
    assert_eq!(text(&pulled), MAP);
    assert_eq!(*pulled.manifest.digest(), artifact.digest);

    let Document::Manifest(manifest) = pulled.manifest.parse().expect("a manifest") else {
        panic!("an index")
    };
    let checksum = Digest::of(MAP.as_bytes());
    assert_eq!(manifest.annotations["kustomizer.dev/checksum"], checksum.hex());
    assert_eq!(artifact.content_bytes, MAP.len() as u64);
    assert_eq!(artifact.tag, artifact.build_id.to_string());
    assert_eq!(artifact.outputs.files[0].rel_path, "manifest.yaml");
    assert_eq!(artifact.outputs.image.tag, artifact.tag);
    let heard = project.heard.take().join("\n");
    for said in ["source type inline", &artifact.digest.to_string(), &MAP.len().to_string()] {
        assert!(heard.contains(said), "{said} in {heard}");
    }
}

#[tokio::test]
async fn acceptance_03_equal_text_gives_an_equal_layer() {
    let mut layers = Vec::new();
    for _ in 0..2 {
        let project = Project::with_component(&inline(MAP));
        // The second project's build is at another time and place.
        project.next_id();
        let artifact = project.build().await.expect("built");
        let pulled = project.pull(&artifact).await;
        let Document::Manifest(manifest) = pulled.manifest.parse().expect("a manifest") else {
            panic!("an index")
        };
        layers.push(manifest.layers[0].digest.clone());
    }
    assert_eq!(layers[0], layers[1]);
}

#[tokio::test]
async fn acceptance_04_a_document_without_a_name_fails_the_build() {
    let project = Project::with_component(&inline("apiVersion: v1\nkind: ConfigMap\n"));
    let ended = project.build().await.expect_err("no name");
    assert!(ended.to_string().starts_with("document 1:"), "{ended}");
    assert!(ended.to_string().contains("metadata"), "{ended}");
}

#[tokio::test]
async fn a_bad_document_is_found_where_it_stands() {
    // Keys begin on line 4 of the component file, documents on the line after that.
    let two = format!("{MAP}---\nkind: ConfigMap\n");
    let escaped = "manifest = \"---\\nkind: ConfigMap\\n\"\n";
    let separate = "manifest = \"./map.yaml\"\n";
    for (rest, number, file, line) in [
        (inline(&two).as_str(), 2, "components/c.toml", 10),
        (escaped, 1, "components/c.toml: manifest", 2),
        (separate, 2, "components/map.yaml", 6),
    ] {
        let project = Project::with_component(rest);
        project.write("components/map.yaml", &two);
        let ended = project.build().await.expect_err("no apiVersion");
        assert!(ended.to_string().starts_with(&format!("document {number}:")), "{ended}");
        let Ended::Failed(error) = ended else { panic!("{ended:?}") };
        let (found, pos) = error.location().expect("a place");
        assert!(found.to_string_lossy().ends_with(file), "{}", found.display());
        assert_eq!(pos.line, line, "{rest}");
    }
}

#[tokio::test]
async fn other_source_types_are_refused() {
    let project = Project::with_component(&inline(MAP));
    let environment = project.environment();
    let id = project.next_id();
    let mut plan =
        BuildPlan::new(&project.component(), id, "", &environment.repos).expect("a plan");
    plan.kubernetes_manifest_build_plan.source_type = "helm".to_owned();
    let component = project.component();
    let (cancel, timeout) = (CancellationToken::new(), component.build_timeout);
    let ended =
        flumen_pipeline::build_plan(plan, timeout, &environment, &cancel, &project.heard).await;
    let ended = ended.expect_err("refused");
    assert_eq!(ended.to_string(), "unsupported source type: helm");
    assert!(matches!(ended, Ended::Failed(Error::UnsupportedSource(_))));
}
