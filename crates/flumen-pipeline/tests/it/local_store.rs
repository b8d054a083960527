//! What stays on this machine, what goes on to an install, and what is collected.

use flumen_oci::{Target, copy::CopyOptions};
use flumen_pipeline::{
    Error,
    prune::{Prune, candidates, prune},
};
use jiff::Timestamp;

use crate::{Insecure, Project, TestRegistry, config_map};

fn inline(name: &str) -> String {
    format!("manifest = '''{}'''\n", config_map(name))
}

#[cfg(unix)]
#[tokio::test]
async fn the_store_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;

    let project = Project::with_component(&inline("a"));
    project.build().await.expect("built");
    for path in ["data", "data/store", "state", "state/cache"] {
        let mode = std::fs::metadata(project.path(path)).expect(path).permissions().mode();
        assert_eq!(mode & 0o777, 0o700, "{path}");
    }
}

#[tokio::test]
async fn a_sync_copies_the_last_build() {
    let project = Project::with_component(&inline("a"));
    let install = TestRegistry::start().await;
    let to = install.repository("install/app");
    let (state, components) = (project.state(), project.path("components"));
    let options = CopyOptions::default();
    let sync = || flumen_pipeline::sync(&state, &components, "c", &Insecure, &to, &options);

    let error = sync().await.expect_err("nothing was built");
    assert!(matches!(error, Error::NothingToSync));
    assert_eq!(
        error.to_string(),
        "OCI artifact not found on install deploy - sync job may not have completed"
    );

    project.build().await.expect("built");
    project.set_component(&inline("b"));
    let last = project.build().await.expect("built");
    let (synced, copied) = sync().await.expect("synced");
    assert_eq!((&synced, copied.blobs_skipped), (&last, 0));
    let found = to.resolve(&Target::Tag(last.tag)).await.expect("tagged");
    assert_eq!(found.digest, last.digest);
    assert_eq!(sync().await.expect("synced").1.blobs_copied, 0);
}

#[tokio::test]
async fn a_sync_goes_from_registry_to_registry() {
    let project = Project::with_component(&inline("a"));
    let (builds, install) = (TestRegistry::start().await, TestRegistry::start().await);
    let mut environment = project.environment();
    environment.destination = builds.destination("org/app");
    let built = project.build_in(&environment).await.expect("built");
    let to = install.repository("install/app");
    let (state, components) = (project.state(), project.path("components"));
    let options = CopyOptions::default();
    flumen_pipeline::sync(&state, &components, "c", &Insecure, &to, &options)
        .await
        .expect("synced");
    let found = to.resolve(&Target::Tag(built.tag)).await.expect("tagged");
    assert_eq!(found.digest, built.digest);
}

#[tokio::test]
async fn old_builds_go_and_the_last_one_stays() {
    let project = Project::with_component(&inline("a"));
    let mut tags = Vec::new();
    for name in ["a", "b", "c"] {
        project.set_component(&inline(name));
        tags.push(project.build().await.expect("built").tag);
    }
    let state = project.state();
    let later = Prune::Before(Timestamp::from_second(1_800_000_000).expect("a time"));
    assert_eq!(candidates(&state, later).await.expect("candidates"), tags[..2]);
    let earlier = Prune::Before(Timestamp::from_second(1_700_000_001).expect("a time"));
    assert_eq!(prune(&state, earlier).await.expect("pruned").builds, tags[..1]);
    assert_eq!(prune(&state, later).await.expect("pruned").builds, tags[1..2]);

    let all = prune(&state, Prune::All).await.expect("pruned");
    assert_eq!(all.builds, tags[2..]);
    let store = state.store().expect("a store");
    assert!(store.tags().await.expect("tags").is_empty());
    assert!(!project.build().await.expect("built").reused);
}
