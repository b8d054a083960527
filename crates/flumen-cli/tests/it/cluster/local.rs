//! What comes from files is packed into the local store, so that there is one way to the cluster.

use super::{Site, map};

fn artifact(site: &Site) -> String {
    let history = site.printed(&["history", "app", "-o", "name"]);
    history.lines().next().expect("a deployment").to_owned()
}

#[test]
fn equal_input_is_one_artifact() {
    let Some(site) = Site::new() else { return };
    site.manifests("one.yaml", &[map("a", "1"), map("b", "1")]);
    site.manifests("two.yaml", &[map("b", "1"), map("a", "1")]);
    site.apply("one.yaml", &[]);
    let first = artifact(&site);
    assert!(first.starts_with("local-store@sha256:"), "{first}");
    site.apply("two.yaml", &[]);
    assert_eq!(artifact(&site), first);
    let history = site.printed(&["history", "app", "-o", "name"]);
    assert_eq!(history.lines().count(), 1, "nothing was deployed the second time: {history}");
}

#[test]
fn artifacts_and_patches_go_together() {
    let Some(site) = Site::new() else { return };
    let registry = flumen_testkit::EmbeddedRegistry::start();
    let url = format!("oci://{}/org/app:v1", registry.host());
    let push = ["push", "artifact", &url, "-k", "a", "--insecure-registry"];
    let pushed = site.scratch.flumen(&push);
    assert!(pushed.succeeded(), "{}", pushed.stderr);
    site.scratch.write("patch.yaml", &format!("{}data: {{k: patched}}\n", crate::config_map("a")));
    let args = ["apply", "inventory", "app", "-a", &url, "-k", "b", "-p", "patch.yaml"];
    let printed = site.printed(&[&args[..], &["--insecure-registry"]].concat());
    assert_eq!(printed.lines().count(), 2, "{printed}");
    assert_eq!(site.object("configmap/a").expect("it is there")["data"]["k"], "patched");

    // Encrypted content would lie in the store in the clear.
    let public = "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p\n";
    site.scratch.write("team.txt", public);
    let secret = format!("oci://{}/org/app:secret", registry.host());
    let push = ["push", "artifact", &secret, "-k", "a", "--age-recipients", "team.txt"];
    let pushed = site.scratch.flumen(&[&push[..], &["--insecure-registry"]].concat());
    assert!(pushed.succeeded(), "{}", pushed.stderr);
    let args = ["apply", &secret, "--inventory", "app", "--insecure-registry"];
    let error = site.refusal(&args);
    assert!(error.contains("--age-identities"), "{error}");
}

#[test]
fn signatures_are_checked_before_the_cluster_is_asked() {
    let Some(site) = Site::new() else { return };
    let registry = flumen_testkit::EmbeddedRegistry::start();
    let made = site.scratch.flumen(&["sign", "generate-key-pair"]);
    assert!(made.succeeded(), "{}", made.stderr);
    // Two contents: one pushed twice within a second would be one artifact, signed under both tags.
    for (tag, content, sign) in
        [("signed", "a", &["--sign", "--cosign-key", "cosign.key"][..]), ("plain", "b", &[])]
    {
        let url = format!("oci://{}/org/app:{tag}", registry.host());
        let push =
            [&["push", "artifact", &url, "-k", content, "--insecure-registry"], sign].concat();
        let pushed = site.scratch.flumen(&push);
        assert!(pushed.succeeded(), "{}", pushed.stderr);
    }
    let apply = |tag: &str| {
        let url = format!("oci://{}/org/app:{tag}", registry.host());
        let args = ["apply", &url, "--inventory", "app", "--key", "cosign.pub"];
        site.run(&[&args[..], &["--insecure-registry"]].concat())
    };
    let refused = apply("plain");
    assert_eq!(refused.status, Some(1));
    assert!(refused.stderr.contains("no signatures found"), "{}", refused.stderr);
    assert!(site.object("configmap/b").is_none());
    let applied = apply("signed");
    assert_eq!(applied.status, Some(0), "{}", applied.stderr);
}
