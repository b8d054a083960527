//! Signatures that the real gpg and ssh-keygen made.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::atomic::AtomicBool,
    time::{Duration, SystemTime},
};

use flumen_git::{
    Checkout, GitReference, GitUrl, Limits, TrustedKeys, VerificationMode, VerifyError, open,
    verify,
};
use flumen_testkit::{GitRepository, GitServer, SshKey, skip, tool};
use tempfile::TempDir;

/// A repository whose commits and tags somebody signs.
struct Fixture {
    _server: GitServer,
    repository: GitRepository,
    scratch: TempDir,
}

impl Fixture {
    fn new(needed: &str) -> Option<Self> {
        if tool(needed).is_none() {
            skip("signatures of commits", &format!("{needed} is not installed"));
            return None;
        }
        let server = GitServer::start("signatures of commits")?;
        let repository = server.create_repository("org/app");
        let scratch = tempfile::tempdir().expect("scratch directory");
        Some(Self { _server: server, repository, scratch })
    }

    /// Signs with an ssh key from now on, and returns it.
    fn use_ssh(&self, name: &str, kind: &str) -> SshKey {
        let path = self.scratch.path().join(name);
        let key = SshKey::generate(&path, kind, "");
        self.repository.git(&["config", "gpg.format", "ssh"]);
        let path = path.display().to_string();
        self.repository.git(&["config", "user.signingkey", &path]);
        key
    }

    /// Signs with an `OpenPGP` key from now on. `usage` is that of the first part of the key; what
    /// cannot sign gets a second part that can.
    fn use_openpgp(&self, name: &str, algorithm: &str, usage: &str, expiry: &str) -> OpenPgpKey {
        // Sockets have short names only.
        let home = tempfile::Builder::new().prefix("gpg").tempdir().expect("scratch directory");
        fs::set_permissions(home.path(), std::os::unix::fs::PermissionsExt::from_mode(0o700))
            .expect("permissions");
        let key = OpenPgpKey { home };
        let user = format!("{name}@example.com");
        let loose = ["--batch", "--passphrase", "", "--quick-gen-key"];
        key.gpg(&[&loose[..], &[&user, algorithm, usage, expiry]].concat());
        let listed = key.gpg(&["--list-keys", "--with-colons", &user]);
        let fingerprint = listed.lines().find_map(|line| line.strip_prefix("fpr:::::::::"));
        let fingerprint = fingerprint.expect("a fingerprint").trim_end_matches(':').to_owned();
        if usage == "cert" {
            let loose = ["--batch", "--passphrase", "", "--quick-add-key"];
            key.gpg(&[&loose[..], &[&fingerprint, algorithm, "sign", expiry]].concat());
        }
        let script = self.scratch.path().join(format!("gpg-{name}"));
        let text =
            format!("#!/bin/sh\nexec gpg --homedir '{}' \"$@\"\n", key.home.path().display());
        fs::write(&script, text).expect("a script");
        fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755))
            .expect("permissions");
        self.repository.git(&["config", "gpg.format", "openpgp"]);
        self.repository.git(&["config", "gpg.program", &script.display().to_string()]);
        self.repository.git(&["config", "user.signingkey", &fingerprint]);
        key
    }

    fn signed_commit(&self) -> Checkout {
        self.repository.git(&["commit", "--quiet", "--allow-empty", "-S", "--message=signed\n\nx"]);
        self.open(&GitReference::Default)
    }

    fn signed_tag(&self, name: &str) -> Checkout {
        self.repository.git(&["tag", "--sign", "--message=words", name]);
        self.open(&GitReference::Tag(name.to_owned()))
    }

    fn open(&self, reference: &GitReference) -> Checkout {
        let url = GitUrl::parse(&self.repository.path().display().to_string()).expect("a path");
        let no = AtomicBool::new(false);
        open(&url, reference, &Limits::default(), &no).expect("a commit")
    }
}

/// Where gpg keeps a key. Its helper goes with the directory.
struct OpenPgpKey {
    home: TempDir,
}

impl OpenPgpKey {
    fn gpg(&self, arguments: &[&str]) -> String {
        let program = tool("gpg").unwrap_or_else(|| PathBuf::from("gpg"));
        let mut command = Command::new(program);
        command.arg("--homedir").arg(self.home.path()).args(["--no-tty", "--yes"]);
        let output = command.args(arguments).output().expect("gpg starts");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "gpg {arguments:?}: {errors}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn public(&self) -> String {
        self.gpg(&["--armor", "--export"])
    }

    /// The id of the whole key.
    fn id(&self) -> String {
        let listed = self.gpg(&["--list-keys", "--with-colons"]);
        let line = listed.lines().find(|line| line.starts_with("pub:")).expect("a key");
        line.split(':').nth(4).expect("an id").to_owned()
    }
}

impl Drop for OpenPgpKey {
    fn drop(&mut self) {
        let _ = Command::new("gpgconf")
            .arg("--homedir")
            .arg(self.home.path())
            .args(["--kill", "gpg-agent"])
            .status();
    }
}

fn ssh_keys(keys: &[&str]) -> TrustedKeys {
    let ssh = keys.iter().map(|key| (*key).to_owned()).collect();
    TrustedKeys { ssh, ..TrustedKeys::default() }
}

fn openpgp_keys(keys: &[&str]) -> TrustedKeys {
    let openpgp = keys.iter().map(|key| (*key).to_owned()).collect();
    TrustedKeys { openpgp, ..TrustedKeys::default() }
}

fn verified(mode: VerificationMode, keys: &TrustedKeys, checkout: &Checkout) -> String {
    verify(mode, keys, checkout, SystemTime::now()).expect("a good signature").text
}

fn refused(mode: VerificationMode, keys: &TrustedKeys, checkout: &Checkout) -> VerifyError {
    verify(mode, keys, checkout, SystemTime::now()).expect_err("no good signature")
}

#[test]
fn ssh_keys_sign_commits_and_tags() {
    for kind in ["ed25519", "ecdsa", "rsa"] {
        let Some(fixture) = Fixture::new("ssh-keygen") else { return };
        let key = fixture.use_ssh("key", kind);
        let fingerprint = fingerprint(&fixture.scratch.path().join("key.pub"));
        let keys = ssh_keys(&[&format!("# comment\n\n{}\n", key.public)]);
        let commit = fixture.signed_commit();
        let text = verified(VerificationMode::Head, &keys, &commit);
        let id = &commit.commit;
        let line = format!("\n\t- commit '{id}' with key '{fingerprint}'");
        assert_eq!(text, format!("verified signature of{line}"));

        let tag = fixture.signed_tag("v1");
        let tag_id = fixture.repository.git(&["rev-parse", "v1"]);
        let tag_line = format!("\n\t- tag 'v1@{tag_id}' with key '{fingerprint}'");
        let text = verified(VerificationMode::Tag, &keys, &tag);
        assert_eq!(text, format!("verified signature of{tag_line}"));
        let text = verified(VerificationMode::TagAndHead, &keys, &tag);
        assert_eq!(text, format!("verified signature of{tag_line}{line}"));
    }
}

fn fingerprint(public: &Path) -> String {
    let keygen = tool("ssh-keygen").expect("ssh-keygen");
    let output = Command::new(keygen).arg("-lf").arg(public).output().expect("ssh-keygen starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.split_whitespace().nth(1).expect("a fingerprint").to_owned()
}

#[test]
fn other_ssh_keys_do_not_count() {
    let Some(fixture) = Fixture::new("ssh-keygen") else { return };
    let stranger = fixture.use_ssh("stranger", "ed25519");
    let key = fixture.use_ssh("key", "ed25519");
    let commit = fixture.signed_commit();
    let (id, mode) = (commit.commit.clone(), VerificationMode::Head);
    let error = refused(mode, &ssh_keys(&[&stranger.public]), &commit);
    let failed = format!("signature verification of commit '{id}' failed: ");
    let of_ssh = "unable to verify Git commit SSH signature: ";
    assert_eq!(
        error.to_string(),
        format!(
            "{failed}{of_ssh}unable to verify payload with any of the given authorized keys: \
             no matching key\npublic key does not match"
        )
    );
    let error = refused(mode, &TrustedKeys::default(), &commit);
    assert_eq!(
        error.to_string(),
        format!(
            "{failed}SSH signature detected but no SSH public keys found in secret \
             (keys with .sshpub suffix)"
        )
    );
    let error = refused(mode, &ssh_keys(&["nonsense"]), &commit).to_string();
    assert!(error.contains("unable to parse authorized keys"), "{error}");
    // A file that cannot be read does not hide another one.
    verified(mode, &ssh_keys(&["nonsense", &stranger.public, &key.public]), &commit);

    let mut changed = commit;
    changed.metadata.signed.as_mut().expect("a signature").payload.push(b'!');
    let error = refused(mode, &ssh_keys(&[&key.public]), &changed).to_string();
    assert!(error.ends_with("no matching key\nssh: signature did not verify"), "{error}");
}

#[test]
fn what_is_not_signed_is_called_so() {
    let Some(fixture) = Fixture::new("ssh-keygen") else { return };
    let key = fixture.use_ssh("key", "ed25519");
    let keys = ssh_keys(&[&key.public]);
    let id = fixture.repository.commit(&[("a", "a")]);
    fixture.repository.git(&["tag", "light"]);
    fixture.repository.git(&["tag", "--annotate", "--message=words", "heavy"]);
    let branch = fixture.open(&GitReference::Default);
    let error = refused(VerificationMode::Head, &keys, &branch);
    let expected = format!(
        "signature verification of commit '{id}' failed: unsupported signature type: empty"
    );
    assert_eq!(error.to_string(), expected);
    let error = refused(VerificationMode::TagAndHead, &keys, &branch);
    let expected = "cannot verify tag object's signature if a tag reference is not specified";
    assert_eq!(error.to_string(), expected);
    assert!(matches!(error, VerifyError::NoTag));

    let light = fixture.open(&GitReference::Tag("light".to_owned()));
    let error = refused(VerificationMode::Tag, &keys, &light).to_string();
    assert_eq!(error, "cannot verify signature of tag 'light' since it is not signed");
    let heavy = fixture.open(&GitReference::Tag("heavy".to_owned()));
    let tag = fixture.repository.git(&["rev-parse", "heavy"]);
    let error = refused(VerificationMode::Tag, &keys, &heavy).to_string();
    assert_eq!(
        error,
        format!("cannot verify signature of tag 'heavy@{tag}' since it is not signed")
    );
}

#[test]
fn openpgp_keys_sign_commits_and_tags() {
    for (algorithm, usage) in [("ed25519", "sign"), ("rsa2048", "default"), ("ed25519", "cert")] {
        let Some(fixture) = Fixture::new("gpg") else { return };
        let key = fixture.use_openpgp("someone", algorithm, usage, "never");
        let keys = openpgp_keys(&[&key.public()]);
        let commit = fixture.signed_commit();
        let text = verified(VerificationMode::Head, &keys, &commit);
        let (id, key_id) = (&commit.commit, key.id());
        let line = format!("\n\t- commit '{id}' with key '{key_id}'");
        assert_eq!(text, format!("verified signature of{line}"));
        let tag = fixture.signed_tag("v1");
        let text = verified(VerificationMode::TagAndHead, &keys, &tag);
        let tag_id = fixture.repository.git(&["rev-parse", "v1"]);
        let tag_line = format!("\n\t- tag 'v1@{tag_id}' with key '{key_id}'");
        assert_eq!(text, format!("verified signature of{tag_line}{line}"));
    }
}

#[test]
fn other_openpgp_keys_do_not_count() {
    let Some(fixture) = Fixture::new("gpg") else { return };
    let stranger = fixture.use_openpgp("stranger", "ed25519", "sign", "never");
    let key = fixture.use_openpgp("someone", "ed25519", "sign", "never");
    let commit = fixture.signed_commit();
    let (id, mode) = (commit.commit.clone(), VerificationMode::Head);
    let failed = format!("signature verification of commit '{id}' failed: ");
    let error = refused(mode, &openpgp_keys(&[&stranger.public()]), &commit);
    assert_eq!(
        error.to_string(),
        format!(
            "{failed}unable to verify Git commit: unable to verify payload with any of the given \
             key rings: no matching key"
        )
    );
    let error = refused(mode, &ssh_keys(&["any"]), &commit);
    assert_eq!(
        error.to_string(),
        format!(
            "{failed}PGP signature detected but no PGP public keys found in secret \
             (keys with .asc suffix)"
        )
    );
    let error = refused(mode, &openpgp_keys(&["nonsense"]), &commit).to_string();
    assert!(error.contains("unable to read armored key ring"), "{error}");
    verified(mode, &openpgp_keys(&["nonsense", &stranger.public(), &key.public()]), &commit);

    let mut changed = commit;
    changed.metadata.signed.as_mut().expect("a signature").payload.push(b'!');
    let error = refused(mode, &openpgp_keys(&[&key.public()]), &changed).to_string();
    assert!(error.ends_with("no matching key"), "{error}");
}

#[test]
fn expired_and_revoked_keys_do_not_count() {
    let Some(fixture) = Fixture::new("gpg") else { return };
    let mode = VerificationMode::Head;
    for usage in ["sign", "cert"] {
        let key = fixture.use_openpgp(usage, "ed25519", usage, "1d");
        let keys = openpgp_keys(&[&key.public()]);
        let commit = fixture.signed_commit();
        verified(mode, &keys, &commit);
        let later = SystemTime::now() + Duration::from_hours(48);
        verify(mode, &keys, &commit, later).expect_err("it has expired");
        let earlier = SystemTime::now() - Duration::from_hours(48);
        verify(mode, &keys, &commit, earlier).expect_err("it has not begun");

        let home = key.home.path().join("openpgp-revocs.d");
        let revocation = fs::read_dir(home).expect("a directory").flatten().next();
        let revocation = revocation.expect("a revocation").path();
        let text =
            fs::read_to_string(&revocation).expect("a file").replace(":-----BEGIN", "-----BEGIN");
        fs::write(&revocation, text).expect("a file");
        key.gpg(&["--batch", "--import", &revocation.display().to_string()]);
        refused(mode, &openpgp_keys(&[&key.public()]), &commit);
    }
}
