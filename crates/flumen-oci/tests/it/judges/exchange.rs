//! Ours pushes and they read; they push and ours reads.

use flumen_oci::{Document, Target, media_type};
use flumen_testkit::Judge;

use super::{layer, on_every_registry, push_image};

#[test]
fn crane_reads_what_ours_pushes() {
    let Some(crane) = Judge::find("crane") else { return };
    on_every_registry(async |registry, repository| {
        let layer = layer("all.yaml", b"kind: Namespace\n");
        let pushed = push_image(&repository, &layer, Some("v1")).await;
        let name = format!("{}/team/app", registry.host());
        let tagged = format!("{name}:v1");
        assert_eq!(crane.text(&["digest", "--insecure", &tagged]), pushed.digest().to_string());
        assert_eq!(crane.run(&["manifest", "--insecure", &tagged]), pushed.bytes);
        let Document::Manifest(manifest) = pushed.parse().expect("a manifest") else {
            panic!("an image is no index")
        };
        let blob = format!("{name}@{}", manifest.layers[0].digest);
        assert_eq!(crane.run(&["blob", "--insecure", &blob]), layer);
        // Reads everything and compares digests and sizes.
        crane.run(&["validate", "--insecure", "--remote", &tagged]);
    });
}

#[test]
fn skopeo_reads_what_ours_pushes() {
    let Some(skopeo) = Judge::find("skopeo") else { return };
    on_every_registry(async |registry, repository| {
        let pushed = push_image(&repository, &layer("a", b"b"), Some("v1")).await;
        let source = format!("docker://{}/team/app:v1", registry.host());
        let raw = skopeo.run(&["inspect", "--tls-verify=false", "--raw", &source]);
        assert_eq!(raw, pushed.bytes);

        let scratch = tempfile::tempdir().expect("a scratch directory");
        let target = format!("oci:{}:v1", scratch.path().join("layout").display());
        skopeo.run(&["--insecure-policy", "copy", "--src-tls-verify=false", &source, &target]);
        let blob = format!("layout/blobs/sha256/{}", pushed.digest().hex());
        let copied = std::fs::read(scratch.path().join(blob)).expect("the manifest is there");
        assert_eq!(copied, pushed.bytes);
    });
}

#[test]
fn ours_reads_what_crane_pushes() {
    let Some(crane) = Judge::find("crane") else { return };
    on_every_registry(async |registry, repository| {
        let scratch = tempfile::tempdir().expect("a scratch directory");
        let file = scratch.path().join("layer.tar.gz");
        let layer = layer("all.yaml", b"kind: Namespace\n");
        std::fs::write(&file, &layer).expect("written");
        let (file, tagged) = (file.to_string_lossy(), format!("{}/team/app:v2", registry.host()));
        crane.run(&["append", "--insecure", "-f", &file, "-t", &tagged]);

        let target = Target::Tag("v2".to_owned());
        let manifest = repository.manifest(&target).await.expect("it is read");
        assert_eq!(manifest.digest().to_string(), crane.text(&["digest", "--insecure", &tagged]));
        assert_eq!(repository.resolve(&target).await.expect("resolved"), manifest.descriptor);
        let Document::Manifest(image) = manifest.parse().expect("a manifest") else {
            panic!("an image is no index")
        };
        let content = repository.blob(&image.layers[0]).await.expect("it is there");
        assert_eq!(content.collect().await.expect("it is whole"), layer);
    });
}

#[test]
fn ours_reads_what_skopeo_pushes() {
    let Some(skopeo) = Judge::find("skopeo") else { return };
    on_every_registry(async |registry, repository| {
        push_image(&repository, &layer("a", b"b"), Some("source")).await;
        let copy = |format: &str, tag: &str| {
            let name = format!("docker://{}/team/app", registry.host());
            let both = ["--src-tls-verify=false", "--dest-tls-verify=false", "--format", format];
            let (source, target) = (format!("{name}:source"), format!("{name}:{tag}"));
            let mut arguments = vec!["--insecure-policy", "copy"];
            arguments.extend(both);
            arguments.extend([source.as_str(), target.as_str()]);
            skopeo.run(&arguments);
        };
        for (format, tag, written) in [
            ("oci", "as-oci", media_type::OCI_MANIFEST),
            ("v2s2", "as-docker", media_type::DOCKER_MANIFEST),
        ] {
            copy(format, tag);
            let manifest = repository.manifest(&Target::Tag(tag.to_owned())).await.expect("read");
            assert_eq!(manifest.descriptor.media_type, written);
            let Document::Manifest(image) = manifest.parse().expect("a manifest") else {
                panic!("an image is no index")
            };
            let content = repository.blob(&image.layers[0]).await.expect("it is there");
            assert!(!content.collect().await.expect("it is whole").is_empty());
        }
    });
}
