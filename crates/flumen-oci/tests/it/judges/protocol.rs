//! What a registry does beside storing: tags, deletion, referrers, mounts, large blobs, access.

use flumen_oci::{
    Descriptor, Document, Repository, Target,
    client::{ClientOptions, Pem, Registry},
    media_type,
};
use flumen_testkit::{
    Judge, REGISTRY_PASSWORD, REGISTRY_USER, RealRegistry, RegistryKind, RegistryOptions,
};
use serde_json::json;

use super::{RUNTIME, layer, on_every_registry, open, push_blob, push_image, push_manifest};

#[test]
fn tags_are_listed_over_several_pages() {
    let crane = Judge::find("crane");
    on_every_registry(async |registry, repository| {
        let pushed = push_image(&repository, &layer("a", b"b"), None).await;
        let mut tags: Vec<String> = (0..120).map(|number| format!("v1.0.{number}")).collect();
        for tag in &tags {
            repository.put_manifest(&pushed, Some(tag)).await.expect("tagged");
        }
        tags.sort();
        assert_eq!(repository.tags().await.expect("listed"), tags);
        if let Some(crane) = &crane {
            let name = format!("{}/team/app", registry.host());
            let mut theirs: Vec<_> =
                crane.text(&["ls", "--insecure", &name]).lines().map(str::to_owned).collect();
            theirs.sort();
            assert_eq!(theirs, tags);
        }
    });
}

#[test]
fn what_is_deleted_is_gone_for_all() {
    let crane = Judge::find("crane");
    on_every_registry(async |registry, repository| {
        let pushed = push_image(&repository, &layer("a", b"b"), Some("v1")).await;
        let kept = push_image(&repository, &layer("a", b"c"), Some("v2")).await;
        let by_digest = Target::Digest(pushed.digest().clone());
        repository.delete(&by_digest).await.expect("deleted");
        assert!(repository.manifest(&by_digest).await.is_err());
        assert!(repository.resolve(&Target::Tag("v1".to_owned())).await.is_err());
        let left = repository.resolve(&Target::Tag("v2".to_owned())).await.expect("still there");
        assert_eq!(left.digest, *kept.digest());
        if let Some(crane) = &crane {
            let name = format!("{}/team/app:v1", registry.host());
            assert!(crane.refuses(&["manifest", "--insecure", &name]));
        }
    });
}

#[test]
fn referrers_are_found_whether_the_registry_knows_them_or_not() {
    on_every_registry(async |_, repository| {
        let image = push_image(&repository, &layer("a", b"b"), Some("v1")).await;
        let empty = push_blob(&repository, media_type::OCI_EMPTY, b"{}").await;
        let mut expected = Vec::new();
        for kind in ["application/vnd.example.note", "application/vnd.example.scan"] {
            let manifest = json!({
                "schemaVersion": 2,
                "mediaType": media_type::OCI_MANIFEST,
                "artifactType": kind,
                "config": empty,
                "layers": [empty],
                "subject": Descriptor::of(media_type::OCI_MANIFEST, &image.bytes),
            });
            let referrer = push_manifest(&repository, &manifest, None).await;
            expected.push(referrer.digest().clone());
        }
        let digests = async |kind: Option<&str>| -> Vec<_> {
            let found = repository.referrers(image.digest(), kind).await.expect("listed");
            found.into_iter().map(|descriptor| descriptor.digest).collect()
        };
        let mut all = digests(None).await;
        all.sort();
        let mut both = expected.clone();
        both.sort();
        assert_eq!(all, both);
        assert_eq!(digests(Some("application/vnd.example.scan")).await, [expected[1].clone()]);
        assert!(digests(Some("application/vnd.example.other")).await.is_empty());
    });
}

#[test]
fn blobs_are_mounted_from_another_repository() {
    on_every_registry(async |registry, repository| {
        let content = layer("a", b"b");
        let blob = push_blob(&repository, media_type::OCI_LAYER_GZIP, &content).await;
        let Repository::Remote(other) = open(registry, "team/other") else {
            panic!("a registry is remote")
        };
        assert!(other.mount_blob(&blob, "team/app").await.expect("an answer"));
        let other = Repository::Remote(other);
        assert!(other.has_blob(&blob).await.expect("an answer"));
        let read = other.blob(&blob).await.expect("it is there").collect().await.expect("whole");
        assert_eq!(read, content);
    });
}

#[test]
fn large_blobs_arrive_whole() {
    let crane = Judge::find("crane");
    on_every_registry(async |registry, repository| {
        let mut state = 1_u64;
        let content: Vec<u8> = std::iter::repeat_with(|| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state.to_le_bytes()
        })
        .take(3 << 20)
        .flatten()
        .collect();
        let large = layer("large", &content);
        assert!(large.len() > 24 << 20, "it does not compress");
        let image = push_image(&repository, &large, Some("large")).await;
        let Document::Manifest(manifest) = image.parse().expect("a manifest") else {
            panic!("an image is no index")
        };
        let blob = &manifest.layers[0];
        let read = repository.blob(blob).await.expect("there").collect().await.expect("whole");
        assert!(read == large, "other bytes came back");
        if let Some(crane) = &crane {
            let name = format!("{}/team/app@{}", registry.host(), blob.digest);
            assert!(crane.run(&["blob", "--insecure", &name]) == large, "crane reads other bytes");
        }
    });
}

#[test]
fn credentials_open_a_registry_with_tls() {
    for kind in RegistryKind::ALL {
        let options = RegistryOptions { tls: true, credentials: true };
        let Some(registry) = RealRegistry::start_with(kind, options) else { continue };
        let open = |credentials: Option<&str>, trusts: bool| {
            let options = ClientOptions {
                credentials: credentials.map(|text| text.parse().expect("any text is one")),
                authorities: registry
                    .authority()
                    .filter(|_| trusts)
                    .map(|path| Pem::File(path.to_owned())),
                ..ClientOptions::default()
            };
            let registry = Registry::new(registry.host(), &options).expect("a host");
            Repository::Remote(registry.repository("team/app"))
        };
        let right = format!("{REGISTRY_USER}:{REGISTRY_PASSWORD}");
        let wrong = format!("{REGISTRY_USER}:wrong");
        RUNTIME.block_on(async {
            let pushed = push_image(&open(Some(&right), true), &layer("a", b"b"), Some("v1")).await;
            let tag = Target::Tag("v1".to_owned());
            let found = open(Some(&right), true).resolve(&tag).await.expect("open to us");
            assert_eq!(found.digest, *pushed.digest());
            let refused =
                open(Some(&wrong), true).resolve(&tag).await.expect_err("another password");
            assert!(!format!("{refused} {refused:?}").contains("wrong"), "{refused:?}");
            assert!(open(None, true).resolve(&tag).await.is_err(), "without a password");
            assert!(open(Some(&right), false).resolve(&tag).await.is_err(), "unknown authority");
        });
    }
}
