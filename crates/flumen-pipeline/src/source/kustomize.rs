//! A kustomization in a directory or a Git repository.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicBool},
};

use flumen_build::{Inputs, Options};
use flumen_fs::{DiskTree, Tree};
use flumen_git::{Checkout, Commit, GitUrl, Remotes};

use super::{Context, Made, Provenance, Rendered, blocking};
use crate::{
    Error, Result,
    build::Remote,
    cache::{Conditions, Key},
    plan::{GitSource, KustomizeConfig},
    recording::RecordingTree,
};

pub(crate) async fn build(
    context: &Context<'_>,
    source: &GitSource,
    path: &str,
    config: &KustomizeConfig,
) -> Result<Made> {
    let url = GitUrl::parse(&source.url)?;
    let shown = url.to_string();
    let kustomization =
        Kustomization { shown: &shown, source, path, config, remote: context.remote };
    match url {
        GitUrl::Local(directory) if !is_repository(&directory) => {
            build_directory(context, directory, kustomization).await
        }
        url => build_commit(context, url, kustomization).await,
    }
}

/// What is built in a source, wherever that is.
#[derive(Clone, Copy)]
struct Kustomization<'a> {
    /// The address of the source, as it may be shown.
    shown: &'a str,
    source: &'a GitSource,
    path: &'a str,
    config: &'a KustomizeConfig,
    remote: Remote,
}

/// A commit never changes, so its name stands for everything in it.
async fn build_commit(
    context: &Context<'_>,
    url: GitUrl,
    kustomization: Kustomization<'_>,
) -> Result<Made> {
    let shown = kustomization.shown;
    let commit = {
        let (url, stop, limits) = (url.clone(), Arc::clone(context.stop), context.limits());
        let reference = kustomization.source.reference();
        blocking(move || Ok(flumen_git::resolve(&url, &reference, &limits, &stop)?)).await?
    };
    context.observer.log(&format!(
        "{shown} is at {} ({})",
        commit.id,
        short_name(&commit.reference)
    ));
    let provenance = provenance(shown, &commit);
    let key = kustomization.key(&commit.id);
    if let Some(made) = context.reuse(&key, &provenance).await? {
        return Ok(made);
    }
    let checkout = {
        let (stop, limits) = (Arc::clone(context.stop), context.limits());
        let reference = kustomization.source.reference();
        blocking(move || Ok(flumen_git::open(&url, &reference, &limits, &stop)?)).await?
    };
    // The branch may have moved since it was looked up.
    let Checkout { commit: id, reference, tree, root, .. } = checkout;
    let commit = Commit { id, reference };
    let key = kustomization.key(&commit.id);
    let (yaml, conditions) = kustomization.render(context, tree, root).await?;
    let provenance = self::provenance(shown, &commit);
    // The commit stands for all files.
    let conditions = Conditions { answers: Vec::new(), ..conditions };
    context.publish(&key, Rendered { yaml, provenance, conditions }).await
}

/// A directory has no name for its state; what the build reads is compared instead.
async fn build_directory(
    context: &Context<'_>,
    directory: PathBuf,
    kustomization: Kustomization<'_>,
) -> Result<Made> {
    let shown = kustomization.shown;
    let reference = short_name(&kustomization.source.reference);
    if !reference.is_empty() {
        let line = format!("{shown} is no Git repository, so `{reference}` has no meaning in it");
        context.observer.log(&line);
    }
    let provenance = Provenance { source: shown.to_owned(), revision: String::new() };
    let key = kustomization.key("");
    if let Some(made) = context.reuse(&key, &provenance).await? {
        return Ok(made);
    }
    let tree = Arc::new(DiskTree);
    let (yaml, conditions) = kustomization.render(context, tree, directory).await?;
    context.publish(&key, Rendered { yaml, provenance, conditions }).await
}

impl Kustomization<'_> {
    fn key(&self, state: &str) -> Key {
        let Self { shown, source, path, config, remote } = self;
        Key::new(&("kustomize", shown, state, &source.path, path, config, remote))
    }

    /// Builds in `tree`, where the source begins at `root`.
    async fn render(
        &self,
        context: &Context<'_>,
        tree: Arc<dyn Tree>,
        root: PathBuf,
    ) -> Result<(Vec<u8>, Conditions)> {
        let source_root = root.join(&self.source.path);
        let inputs = Inputs {
            kustomizations: vec![source_root.join(self.path)],
            patches: self.config.patches.iter().map(|patch| source_root.join(patch)).collect(),
            ..Inputs::default()
        };
        let options = Options {
            load_restriction: self.config.load_restriction(),
            enable_helm: self.config.enable_helm,
            remotes: match self.remote {
                Remote::Refuse => None,
                Remote::Fetch => {
                    Some(Arc::new(Remotes::new(context.limits(), Arc::clone(context.stop))))
                }
            },
        };
        let missing =
            Error::NoSourceRoot { url: self.shown.to_owned(), directory: self.source.path.clone() };
        let stop: Arc<AtomicBool> = Arc::clone(context.stop);
        let built = blocking(move || {
            let tree = Arc::new(RecordingTree::new(tree, stop));
            tree.real_dir(&source_root).map_err(|_| missing)?;
            let built = flumen_build::build(Arc::clone(&tree) as Arc<dyn Tree>, &inputs, &options)?;
            Ok((built.to_yaml()?, built, tree.answers()))
        });
        let (yaml, built, answers) = built.await?;
        for warning in &built.warnings {
            context.observer.log(&format!("warning: {warning}"));
        }
        for fetched in &built.remote_sources {
            context.observer.log(&format!("fetched {} at {}", fetched.url, fetched.revision));
        }
        context.observer.log(&format!("built {} objects", built.objects.len()));
        let remotes = built.remote_sources.into_iter().map(Into::into).collect();
        Ok((yaml, Conditions { answers, remotes }))
    }
}

/// `branch/commit` or `tag/commit`; the commit alone if that is how it was named.
fn provenance(url: &str, commit: &Commit) -> Provenance {
    let revision = match short_name(&commit.reference) {
        "" | "HEAD" => commit.id.clone(),
        name if name == commit.id => commit.id.clone(),
        name => format!("{name}/{}", commit.id),
    };
    Provenance { source: url.to_owned(), revision }
}

fn short_name(reference: &str) -> &str {
    ["refs/heads/", "refs/tags/"]
        .iter()
        .find_map(|prefix| reference.strip_prefix(prefix))
        .unwrap_or(reference)
}

/// Whether a directory is a work tree or a bare repository.
fn is_repository(directory: &Path) -> bool {
    directory.join(".git").exists()
        || (directory.join("HEAD").is_file() && directory.join("objects").is_dir())
}
