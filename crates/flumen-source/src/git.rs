//! From a `GitRepository` and its Secrets to a commit and its files.
//!
//! ```text
//! GitRepository + GitSecrets ─▶ GitSource ─▶ resolve ─▶ revision, compared with the artifact's
//!                                        └─▶ fetch ─▶ GitFetch ─▶ verify ─▶ include ─▶ Storage
//! ```
//!
//! What users read in conditions is worded as Flux words it, as far as the words are its own and not
//! those of the library that it uses.

mod error;
mod include;
mod secret;

use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::SystemTime,
};

use flumen_api::{GitRepository, GitVerificationMode};
use flumen_git::{
    Access, Checkout, Client, Commit, GitReference, GitUrl, Limits, Selection, SshAlgorithms,
    TrustedKeys, VerificationMode, Verified,
};

pub use self::{
    error::GitError,
    include::{Include, include},
    secret::{GitSecrets, SecretData},
};

/// What a repository is asked for that names nothing; as in Flux.
const USUAL_BRANCH: &str = "master";

/// As much of the first line of a message as events show; as in Flux.
const MAX_SUBJECT: usize = 50;

/// A repository as an object describes it, ready to be asked.
#[derive(Clone, Debug)]
pub struct GitSource {
    url: GitUrl,
    reference: GitReference,
    selection: Selection,
    verification: Option<(VerificationMode, TrustedKeys)>,
    client: Arc<Client>,
}

/// What was fetched.
#[derive(Clone, Debug)]
pub struct GitFetch {
    /// Of the artifact: `main@sha1:…`.
    pub revision: String,
    pub checkout: Checkout,
}

impl GitFetch {
    /// The first line of the commit's message as events show it.
    pub fn subject(&self) -> String {
        let subject = self.checkout.metadata.subject();
        match subject.char_indices().nth(MAX_SUBJECT) {
            Some((end, _)) => format!("{}...", &subject[..end]),
            None => subject.to_owned(),
        }
    }
}

impl GitSource {
    /// Reads an object. Secrets that it names and that are not given count as empty ones: whoever
    /// looked for them has said so already.
    pub fn new(
        object: &GitRepository,
        secrets: &GitSecrets,
        limits: &Limits,
        algorithms: &SshAlgorithms,
    ) -> Result<Self, GitError> {
        let spec = &object.spec;
        let proxy = secret::proxy(object, secrets)?;
        let url = secret::address(&spec.url)?;
        let access = secret::access(object, secrets, proxy)?;
        let access = Access { ssh_algorithms: algorithms.clone(), ..access };
        let limits = Limits { time: spec.timeout(), ..limits.clone() };
        let verification = spec.verify.as_ref().map(|verification| {
            let mode = match verification.mode {
                GitVerificationMode::Head => VerificationMode::Head,
                GitVerificationMode::Tag => VerificationMode::Tag,
                GitVerificationMode::TagAndHead => VerificationMode::TagAndHead,
            };
            (mode, secret::trusted_keys(secrets.keys.as_ref()))
        });
        Ok(Self {
            url,
            reference: reference(spec.r#ref.as_ref()),
            selection: Selection {
                submodules: spec.recurse_submodules,
                directories: spec.sparse_checkout.iter().map(PathBuf::from).collect(),
            },
            verification,
            client: Arc::new(Client::new(access, limits)),
        })
    }

    /// The revision that an artifact would have now, without fetching anything. That of a commit
    /// that is named by its id is known without asking.
    pub async fn resolve(&self) -> Result<String, GitError> {
        if let GitReference::Commit(id) | GitReference::CommitOf { commit: id, .. } =
            &self.reference
        {
            let known = Commit { id: id.clone(), reference: id.clone() };
            return Ok(self.reference.revision(&known));
        }
        let source = self.clone();
        blocking(move |cancel| {
            let commit = source.client.resolve(&source.url, &source.reference, cancel);
            // Ranges of versions are looked for in a clone.
            let is_range = matches!(source.reference, GitReference::Semver(_));
            let what = if is_range { "clone" } else { "list remote for" };
            let commit = commit.map_err(|error| source.explain(&error, what))?;
            Ok(source.reference.revision(&commit))
        })
        .await
    }

    /// Fetches the commit that is meant now.
    pub async fn fetch(&self) -> Result<GitFetch, GitError> {
        let source = self.clone();
        blocking(move |cancel| {
            let Self { url, reference, selection, client, .. } = &source;
            let checkout = client
                .open(url, reference, selection, cancel)
                .map_err(|error| source.explain(&error, "clone"))?;
            let revision = reference.revision(&checkout.resolved());
            Ok(GitFetch { revision, checkout })
        })
        .await
    }

    /// Checks the signatures that the object asks for; none if it asks for none.
    pub fn verify(
        &self,
        fetched: &GitFetch,
        now: SystemTime,
    ) -> Option<Result<Verified, GitError>> {
        let (mode, keys) = self.verification.as_ref()?;
        let outcome = flumen_git::verify(*mode, keys, &fetched.checkout, now);
        Some(outcome.map_err(GitError::Unverified))
    }

    fn explain(&self, error: &flumen_git::Error, what: &str) -> GitError {
        GitError::of_git(error, &self.url, &self.reference, what)
    }
}

fn reference(given: Option<&flumen_api::GitReference>) -> GitReference {
    let Some(given) = given else { return GitReference::Branch(USUAL_BRANCH.to_owned()) };
    let flumen_api::GitReference { branch, tag, semver, name, commit } = given.clone();
    match (commit, name, semver, tag, branch) {
        (Some(commit), _, _, _, Some(branch)) => GitReference::CommitOf { branch, commit },
        (Some(commit), _, _, _, None) => GitReference::Commit(commit),
        (None, Some(name), ..) => GitReference::Full(name),
        (None, None, Some(range), ..) => GitReference::Semver(range),
        (None, None, None, Some(tag), _) => GitReference::Tag(tag),
        (None, None, None, None, branch) => {
            GitReference::Branch(branch.unwrap_or_else(|| USUAL_BRANCH.to_owned()))
        }
    }
}

/// Runs what blocks where it may, and tells it to stop when nobody waits for it any more.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce(&AtomicBool) -> Result<T, GitError> + Send + 'static,
) -> Result<T, GitError> {
    struct Cancel(Arc<AtomicBool>);

    impl Drop for Cancel {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    let cancel = Cancel(Arc::default());
    let flag = Arc::clone(&cancel.0);
    let outcome = tokio::task::spawn_blocking(move || work(&flag)).await;
    outcome.unwrap_or(Err(GitError::Interrupted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_exact_reference_counts() {
        let check = |fields: [&str; 5], expected: GitReference| {
            let [branch, tag, semver, name, commit] =
                fields.map(|field| (!field.is_empty()).then(|| field.to_owned()));
            let given = flumen_api::GitReference { branch, tag, semver, name, commit };
            assert_eq!(reference(Some(&given)), expected, "{fields:?}");
        };
        let text = str::to_owned;
        check(["b", "t", "s", "n", ""], GitReference::Full(text("n")));
        check(["b", "t", "s", "", ""], GitReference::Semver(text("s")));
        check(["b", "t", "", "", ""], GitReference::Tag(text("t")));
        check(["b", "", "", "", ""], GitReference::Branch(text("b")));
        check(["", "", "", "", ""], GitReference::Branch(text("master")));
        check(["", "t", "s", "n", "c"], GitReference::Commit(text("c")));
        let on_branch = GitReference::CommitOf { branch: text("b"), commit: text("c") };
        check(["b", "t", "s", "n", "c"], on_branch);
        assert_eq!(reference(None), GitReference::Branch(text("master")));
    }
}
