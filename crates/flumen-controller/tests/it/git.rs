//! Git repositories as sources: what is delivered from them, and what goes wrong with them.

use flumen_testkit::{GitRepository, GitServer, SshKey, SshServer};
use serde_json::{Value, json};

use crate::fixture::{Stage, condition, config_map};

/// Creates the source of a repository and a Kustomization of it.
fn deliver(stage: &Stage, url: &str, fields: &Value) {
    let mut spec = json!({"interval": "10m", "url": url, "ref": {"branch": "main"}});
    for (key, value) in fields.as_object().expect("fields") {
        spec[key] = value.clone();
    }
    stage.create("GitRepository", "app", &spec);
    stage.kustomization("app", &json!({"sourceRef": {"kind": "GitRepository", "name": "app"}}));
}

fn commit(stage: &Stage, repository: &GitRepository, value: &str) -> String {
    let text = config_map("one", value).replace("<ns>", &stage.namespace);
    repository.commit(&[("one.yaml", &text)])
}

/// Waits until a revision has arrived everywhere.
fn until_delivered(stage: &Stage, commit: &str, value: &str) -> Value {
    let revision = format!("main@sha1:{commit}");
    let source = stage.until_object("GitRepository", "app", |object| {
        condition(object, "Ready")["status"] == "True"
            && object["status"]["artifact"]["revision"] == revision
    });
    stage.until_object("Kustomization", "app", |object| {
        condition(object, "Ready")["status"] == "True"
            && object["status"]["lastAppliedRevision"] == revision
    });
    assert_eq!(stage.get("ConfigMap", "one").expect("it is applied")["data"]["key"], value);
    source
}

/// Waits until the source has failed, and returns the message.
fn until_failed(stage: &Stage, reason: &str) -> String {
    let object = until_failed_object(stage, reason);
    condition(&object, "Ready")["message"].as_str().expect("a message").to_owned()
}

/// Waits until the source has failed, and returns it as it was then: it may be at work again a moment later.
fn until_failed_object(stage: &Stage, reason: &str) -> Value {
    stage.until_object("GitRepository", "app", |object| {
        let ready = condition(object, "Ready");
        ready["status"] == "False" && ready["reason"] == reason
    })
}

fn secret(stage: &Stage, name: &str, data: &Value) {
    stage.apply(&json!({
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name, "namespace": stage.namespace},
        "stringData": data,
    }));
}

/// Waits for an event about a source, and returns its type and message.
fn until_told(stage: &Stage, name: &str, reason: &str, start: &str) -> (String, String) {
    let text = |event: &Value, key: &str| event[key].as_str().unwrap_or_default().to_owned();
    Stage::until(&format!("{reason} is told"), || {
        let events = stage.events("GitRepository", name);
        let told = events
            .iter()
            .find(|event| event["reason"] == reason && text(event, "message").starts_with(start));
        told.map(|event| (text(event, "type"), text(event, "message")))
    })
}

/// Asks for a pass and waits for its end.
fn pass(stage: &Stage, name: &str) -> Value {
    let at = stage.request("GitRepository", name);
    stage.until_object("GitRepository", name, |object| {
        object["status"]["lastHandledReconcileAt"] == at
    })
}

#[test]
fn commits_are_delivered_also_after_a_forced_push() {
    let Some(server) = GitServer::start("commits through the controller") else { return };
    let Some(stage) = Stage::start() else { return };
    let repository = server.create_repository("app");
    let first = commit(&stage, &repository, "1");
    deliver(&stage, &server.url("app"), &json!({}));
    let source = until_delivered(&stage, &first, "1");
    let message = format!("stored artifact for revision 'main@sha1:{first}'");
    assert_eq!(condition(&source, "Ready")["message"], message);

    let second = commit(&stage, &repository, "2");
    stage.request("GitRepository", "app");
    until_delivered(&stage, &second, "2");

    repository.git(&["reset", "--quiet", "--hard", &first]);
    let third = commit(&stage, &repository, "3");
    assert_ne!(repository.git(&["merge-base", &second, &third]), second, "history is rewritten");
    stage.request("GitRepository", "app");
    until_delivered(&stage, &third, "3");

    // Nothing is fetched when nothing is new.
    let fetches = || server.requests().iter().filter(|one| one.starts_with("POST ")).count();
    let before = fetches();
    let at = stage.request("GitRepository", "app");
    stage.until_object("GitRepository", "app", |object| {
        object["status"]["lastHandledReconcileAt"] == at
    });
    let asked = fetches() - before;
    assert!(asked <= 1, "the remote is asked for its references only: {asked}");
}

#[test]
fn a_reference_that_is_deleted_is_named_and_what_was_delivered_stays() {
    let Some(server) = GitServer::start("deleted references") else { return };
    let Some(stage) = Stage::start() else { return };
    let repository = server.create_repository("app");
    let first = commit(&stage, &repository, "1");
    let url = server.url("app");
    deliver(&stage, &url, &json!({}));
    until_delivered(&stage, &first, "1");
    repository.git(&["checkout", "--quiet", "-b", "other"]);
    repository.git(&["branch", "--quiet", "-D", "main"]);
    stage.request("GitRepository", "app");
    let message = until_failed(&stage, "GitOperationFailed");
    let expected = format!(
        "failed to checkout and determine revision: unable to clone '{url}': couldn't find remote ref \
         \"refs/heads/main\""
    );
    assert_eq!(message, expected);
    let source = stage.get("GitRepository", "app").expect("it is there");
    assert_eq!(source["status"]["artifact"]["revision"], format!("main@sha1:{first}"));
    let object = stage.get("Kustomization", "app").expect("it is there");
    assert_eq!(condition(&object, "Ready")["status"], "True");

    stage.patch("GitRepository", "app", &json!({"spec": {"ref": {"branch": "other"}}}));
    stage.until_object("GitRepository", "app", |object| {
        object["status"]["artifact"]["revision"] == format!("other@sha1:{first}")
    });
}

#[test]
fn a_remote_that_cannot_be_reached_or_opened_is_named() {
    let Some(server) = GitServer::start("remotes that fail") else { return };
    let Some(stage) = Stage::start() else { return };
    let repository = server.create_repository("app");
    let first = commit(&stage, &repository, "1");
    // Nobody listens there.
    let nowhere = "http://127.0.0.1:1/app";
    deliver(&stage, nowhere, &json!({}));
    let message = until_failed(&stage, "GitOperationFailed");
    let start = format!(
        "failed to checkout and determine revision: unable to clone '{nowhere}': Get \"{nowhere}/info/refs"
    );
    assert!(message.starts_with(&start), "{message}");
    assert!(message.ends_with("connection refused"), "{message}");
    let waiting = stage.until_failed("app", "ArtifactFailed");
    assert_eq!(waiting, "Source artifact not found, retrying in 30s");

    let check = |spec: Value, hint: &str| {
        stage.patch("GitRepository", "app", &json!({ "spec": spec }));
        stage.until_object("GitRepository", "app", |object| {
            let ready = condition(object, "Ready");
            let message = ready["message"].as_str().unwrap_or_default();
            ready["status"] == "False" && message.ends_with(hint)
        });
    };
    let private = server.url("private/app");
    check(
        json!({ "url": private }),
        "name a Secret with credentials in spec.secretRef, or correct spec.url",
    );
    secret(&stage, "wrong", &json!({"username": "me", "password": "guess"}));
    let wrong = json!({"secretRef": {"name": "wrong"}});
    check(wrong, "correct the credentials in the Secret of spec.secretRef");
    let source = stage.get("GitRepository", "app").expect("it is there");
    assert!(!source["status"].to_string().contains("guess"), "no secret is told");
    secret(&stage, "right", &json!({"username": "me", "password": "secret"}));
    stage.patch("GitRepository", "app", &json!({"spec": {"secretRef": {"name": "right"}}}));
    until_delivered(&stage, &first, "1");
}

#[test]
fn a_remote_that_takes_its_time_is_shown_at_work() {
    let Some(server) = GitServer::start("remotes that do not answer") else { return };
    let Some(stage) = Stage::start() else { return };
    let url = server.url("stalled/app");
    deliver(&stage, &url, &json!({"timeout": "5s"}));
    let source = stage.until_object("GitRepository", "app", |object| {
        condition(object, "Reconciling")["reason"] == "Progressing"
    });
    for (r#type, status) in [("Reconciling", "True"), ("Ready", "Unknown")] {
        assert_eq!(condition(&source, r#type)["status"], status);
        assert_eq!(condition(&source, r#type)["message"], "building artifact");
    }
    let source = until_failed_object(&stage, "GitOperationFailed");
    let message = condition(&source, "Ready")["message"].as_str().expect("a message");
    assert!(message.contains(&url), "{message}");
    assert_eq!(condition(&source, "Reconciling")["reason"], "ProgressingWithRetry");
}

#[test]
fn a_key_that_does_not_fit_is_refused_with_what_to_do() {
    let Some(server) = SshServer::start("ssh through the controller", "") else { return };
    let Some(stage) = Stage::start() else { return };
    let repository = server.create_repository("app");
    let first = commit(&stage, &repository, "1");
    let (right, wrong) = (server.generate_key("ed25519", ""), server.generate_key("ed25519", ""));
    server.authorize(&right);
    let identity = |key: &SshKey, known_hosts: &str| json!({"identity": key.private, "identity.pub": key.public, "known_hosts": known_hosts});
    let known = server.known_hosts();
    secret(&stage, "wrong", &identity(&wrong, &known));
    let other = wrong.public.split_whitespace().nth(1).expect("a key");
    let stranger = format!("{} ssh-ed25519 {other}\n", server.host());
    secret(&stage, "stranger", &identity(&right, &stranger));
    secret(&stage, "right", &identity(&right, &known));
    deliver(&stage, &server.url("app"), &json!({"secretRef": {"name": "wrong"}}));
    let message = until_failed(&stage, "GitOperationFailed");
    let hint = "; let the key in at the server, or correct it in the Secret of spec.secretRef";
    assert!(message.ends_with(hint), "{message}");
    stage.patch("GitRepository", "app", &json!({"spec": {"secretRef": {"name": "stranger"}}}));
    stage.until_object("GitRepository", "app", |object| {
        let message = condition(object, "Ready")["message"].as_str().unwrap_or_default();
        message.ends_with("and correct known_hosts in the Secret of spec.secretRef")
    });
    stage.patch("GitRepository", "app", &json!({"spec": {"secretRef": {"name": "right"}}}));
    until_delivered(&stage, &first, "1");
}

#[test]
fn a_verified_commit_is_fetched_again_only_for_other_keys() {
    let Some(server) = GitServer::start("signatures through the controller") else { return };
    if flumen_testkit::tool("ssh-keygen").is_none() {
        return flumen_testkit::skip("signatures", "ssh-keygen is not installed");
    }
    let Some(stage) = Stage::start() else { return };
    let repository = server.create_repository("app");
    let scratch = tempfile::tempdir().expect("a directory");
    let path = scratch.path().join("signer");
    let signer = SshKey::generate(&path, "ed25519", "");
    let stranger = SshKey::generate(&scratch.path().join("stranger"), "ed25519", "");
    repository.git(&["config", "gpg.format", "ssh"]);
    repository.git(&["config", "user.signingkey", path.to_str().expect("a path")]);
    repository.git(&["config", "commit.gpgsign", "true"]);
    let first = commit(&stage, &repository, "1");
    secret(&stage, "keys", &json!({"author.sshpub": signer.public}));
    let verify = json!({"mode": "HEAD", "secretRef": {"name": "keys"}});
    deliver(&stage, &server.url("app"), &json!({ "verify": verify }));
    let source = until_delivered(&stage, &first, "1");
    assert_eq!(condition(&source, "SourceVerified")["status"], "True");
    let (kind, message) = until_told(&stage, "app", "Succeeded", "verified signature of");
    assert_eq!(kind, "Normal");
    assert_eq!(condition(&source, "SourceVerified")["message"], message);

    let fetches = || server.requests().iter().filter(|one| one.starts_with("POST ")).count();
    let pass = || {
        let before = fetches();
        let at = stage.request("GitRepository", "app");
        stage.until_object("GitRepository", "app", |object| {
            object["status"]["lastHandledReconcileAt"] == at
        });
        fetches() - before
    };
    assert!(pass() <= 1, "nothing is new");
    let more = format!("{}\n{}\n", signer.public, stranger.public);
    secret(&stage, "keys", &json!({ "author.sshpub": more }));
    assert!(pass() > 1, "others are trusted");
    secret(&stage, "keys", &json!({"author.sshpub": stranger.public}));
    stage.request("GitRepository", "app");
    let source = until_failed_object(&stage, "InvalidCommitSignature");
    let message = condition(&source, "Ready")["message"].as_str().expect("a message");
    let hint = "; sign with a key of the Secret of spec.verify.secretRef, or add the signer's public key to it";
    assert!(message.ends_with(hint), "{message}");
    assert_eq!(condition(&source, "SourceVerified")["status"], "False");

    // Nothing is verified where nothing can be fetched.
    let nowhere = json!({"url": "http://127.0.0.1:1/app"});
    stage.patch("GitRepository", "app", &json!({ "spec": nowhere }));
    let source = until_failed_object(&stage, "GitOperationFailed");
    assert_eq!(condition(&source, "SourceVerified"), &Value::Null);
}

#[test]
fn passes_are_told_as_flux_tells_them() {
    let Some(server) = GitServer::start("events about commits") else { return };
    let Some(stage) = Stage::start() else { return };
    let repository = server.create_repository("app");
    commit(&stage, &repository, "1");
    let subject = "Ä subject with more than the fifty characters that are shown of it";
    repository.git(&["commit", "--quiet", "--amend", "--message", &format!("{subject}\n\nbody")]);
    let first = repository.git(&["rev-parse", "HEAD"]);
    deliver(&stage, &server.url("app"), &json!({}));
    until_delivered(&stage, &first, "1");
    let shown: String = subject.chars().take(50).collect();
    let (kind, message) = until_told(&stage, "app", "NewArtifact", "");
    assert_eq!(
        (kind.as_str(), message),
        ("Normal", format!("stored artifact for commit '{shown}...'"))
    );

    // As Flux wrote it once; it is the same commit.
    let former = json!({"artifact": {"revision": format!("main/{first}")}});
    stage.patch_status("GitRepository", "app", &former);
    let fetches = || server.requests().iter().filter(|one| one.starts_with("POST ")).count();
    let before = fetches();
    pass(&stage, "app");
    assert!(fetches() <= before + 1, "the remote is asked for its references only");
    let revision = format!("main@sha1:{first}");
    let note = format!("no changes since last reconciliation: observed revision '{revision}'");
    assert_eq!(until_told(&stage, "app", "GitOperationSucceeded", "").1, note);

    let url = server.url("app");
    stage.patch("GitRepository", "app", &json!({"spec": {"url": "http://127.0.0.1:1/app"}}));
    until_failed(&stage, "GitOperationFailed");
    stage.patch("GitRepository", "app", &json!({"spec": {"url": url}}));
    let told = until_told(&stage, "app", "Succeeded", "").1;
    assert_eq!(told, format!("stored artifact for commit '{revision}'"));
}

#[test]
fn secrets_that_are_missing_are_told_as_flux_tells_them() {
    let Some(server) = GitServer::start("missing Secrets") else { return };
    let Some(stage) = Stage::start() else { return };
    let repository = server.create_repository("app");
    let first = commit(&stage, &repository, "1");
    deliver(&stage, &server.url("app"), &json!({}));
    until_delivered(&stage, &first, "1");
    let place = format!("{}/nope", stage.namespace);
    let check = |spec: Value, kind: &str, reason: &str, message: &str| {
        stage.patch("GitRepository", "app", &json!({ "spec": spec }));
        let object = stage.until_object("GitRepository", "app", |object| {
            condition(object, "Ready")["message"] == message
        });
        assert_eq!(condition(&object, kind)["reason"], reason);
        let clean = json!({"secretRef": null, "proxySecretRef": null, "verify": null});
        stage.patch("GitRepository", "app", &json!({ "spec": clean }));
        stage.until_object("GitRepository", "app", |object| {
            condition(object, "Ready")["status"] == "True"
        });
    };
    let nope = json!({"name": "nope"});
    let failed = format!("failed to get secret '{place}'");
    check(
        json!({ "secretRef": nope }),
        "FetchFailed",
        "AuthenticationFailed",
        &format!("{failed}: {failed}: secrets \"nope\" not found"),
    );
    check(
        json!({ "proxySecretRef": nope }),
        "FetchFailed",
        "AuthenticationFailed",
        &format!("failed to configure proxy options: secret '{place}' not found"),
    );
    check(
        json!({"verify": {"mode": "HEAD", "secretRef": nope}}),
        "SourceVerified",
        "VerificationError",
        "public keys secret error: secrets \"nope\" not found",
    );
}

#[test]
fn included_repositories_are_waited_for() {
    let Some(server) = GitServer::start("repositories in repositories") else { return };
    let Some(stage) = Stage::start() else { return };
    let repository = server.create_repository("app");
    let first = commit(&stage, &repository, "1");
    let part = server.create_repository("part");
    part.commit(&[("deploy/two.yaml", &config_map("two", "2").replace("<ns>", &stage.namespace))]);
    let include = |from: &str| json!({"include": [{"repository": {"name": "part"}, "fromPath": from, "toPath": "parts"}]});
    deliver(&stage, &server.url("app"), &include("deploy"));
    let object = until_failed_object(&stage, "NotFound");
    let message = condition(&object, "Ready")["message"].as_str().expect("a message");
    let expected = "could not get resource for include 'part': GitRepository.source.toolkit.fluxcd.io \"part\" not found";
    assert_eq!(message, expected);
    assert_eq!(condition(&object, "IncludeUnavailable")["status"], "True");
    // Waiting is no failure.
    let told = until_told(&stage, "app", "NotFound", "");
    assert_eq!(told, ("Normal".to_owned(), expected.to_owned()));

    let spec = json!({"interval": "10m", "url": server.url("part"), "ref": {"branch": "main"}});
    stage.create("GitRepository", "part", &spec);
    stage.until_object("GitRepository", "part", |object| {
        condition(object, "Ready")["status"] == "True"
    });
    stage.request("GitRepository", "app");
    until_delivered(&stage, &first, "1");
    assert_eq!(stage.get("ConfigMap", "two").expect("it is applied")["data"]["key"], "2");

    stage.patch("GitRepository", "app", &json!({ "spec": include("nowhere") }));
    let object = until_failed_object(&stage, "CopyFailure");
    let message = condition(&object, "Ready")["message"].as_str().expect("a message");
    let expected = "failed to copy 'part' include from nowhere to parts: no such file or directory";
    assert_eq!(message, expected);
    assert_eq!(condition(&object, "StorageOperationFailed")["reason"], "CopyFailure");
    for kind in ["FetchFailed", "IncludeUnavailable"] {
        assert_eq!(condition(&object, kind), &Value::Null, "{kind}");
    }
    assert_eq!(until_told(&stage, "app", "CopyFailure", "").0, "Warning");
}
