//! Files as a kustomization sees them: relative to its directory and confined to it.
//!
//! A kustomization reads *files* in or below its own directory ([`Loader::read`]) and *enters* other
//! directories, anywhere on the file system, that hold kustomizations of their own
//! ([`Loader::enter`]). Nothing it entered on the way may be entered again below, or builds would
//! not end.
//!
//! Where the caller allows it, both may be remote. A repository that was entered is a tree of its own:
//! what is relative in it stays in it.

mod error;
mod remote;
mod repository;

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use flumen_fs::{Bounds, FsError, RemoteTrees, Tree, clean, printable};
use parking_lot::{Mutex, MutexGuard};
use rustc_hash::FxHashMap;

use self::remote::NoFile;
pub use self::remote::RemoteSource;
pub(crate) use self::repository::Repository;
use crate::{
    aside::Aside,
    content::Content,
    error::{Context as _, Error, Result},
};

/// Kustomizations within kustomizations. Real ones stop at ten; each level costs stack.
const MAX_DEPTH: usize = 200;

/// Kustomizations entered in one build. Twenty-four directories that each name the next one twice
/// would enter sixteen million.
const MAX_ENTERED: usize = 10_000;

/// Larger files are not kept in case they are read again.
const MAX_CACHED_SIZE: usize = 1 << 20;

/// Where the files of a kustomization may lie.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LoadRestriction {
    /// In or below its directory.
    #[default]
    RootOnly,
    /// Anywhere.
    None,
}

/// Reads the files of one kustomization.
#[derive(Clone, Debug)]
pub(crate) struct Loader {
    files: Arc<Files>,
    link: Arc<Link>,
}

/// A directory in the chain of those that were entered to get here.
#[derive(Debug)]
struct Link {
    root: Arc<Path>,
    above: Option<Arc<Self>>,
    depth: usize,
}

/// A tree that the build reads from: the one it started in, or a repository.
#[derive(Debug)]
struct Files {
    tree: Arc<dyn Tree>,
    restriction: LoadRestriction,
    /// By the path that was asked for. A file is found again only from the same root, since another
    /// root may forbid it.
    cache: Mutex<FxHashMap<PathBuf, (Arc<Path>, File)>>,
    /// Set if this is a repository.
    origin: Option<Fetched>,
    shared: Arc<Shared>,
}

/// How a repository was entered.
#[derive(Debug)]
struct Fetched {
    /// As the kustomization names it.
    text: String,
    /// How deep the chain of directories was then.
    depth: usize,
    /// The tree whose kustomization refers to it; none if the build starts in the repository.
    above: Option<Arc<Files>>,
}

/// What all loaders of a build share.
#[derive(Debug)]
struct Shared {
    entered: AtomicUsize,
    remotes: Option<Arc<dyn RemoteTrees>>,
    used: Mutex<Vec<RemoteSource>>,
}

impl Shared {
    fn record(&self, source: RemoteSource) {
        self.used.lock().push(source);
    }
}

/// A file that was read: its path, for messages, and what it holds.
#[derive(Clone, Debug)]
pub(crate) struct File {
    pub(crate) path: Arc<Path>,
    pub(crate) content: Content,
}

/// What an entry of `resources` leads to.
#[derive(Debug)]
pub(crate) enum Entry {
    File(File),
    /// Another kustomization.
    Directory(Loader),
}

impl Loader {
    /// Starts a build at a directory.
    pub(crate) fn open(
        tree: Arc<dyn Tree>,
        path: &Path,
        restriction: LoadRestriction,
        remotes: Option<Arc<dyn RemoteTrees>>,
    ) -> Result<Self> {
        let shared =
            Arc::new(Shared { entered: AtomicUsize::new(0), remotes, used: Mutex::default() });
        if let Some(text) = path.to_str()
            && let Some(repository) = Repository::parse(text)
        {
            return Self::at_repository(shared, text, &repository, None);
        }
        if path.as_os_str().is_empty() {
            return Err(error::empty_root());
        }
        let root = tree
            .real_dir(path)
            .map_err(|error| error::not_a_root(&*tree, restriction, path, &error))?;
        let files = Files { tree, restriction, cache: Mutex::default(), origin: None, shared };
        let link = Link { root: root.into(), above: None, depth: 0 };
        Ok(Self { files: Arc::new(files), link: Arc::new(link) })
    }

    /// Starts in a directory of a repository, which `referrer` names as `text`.
    fn at_repository(
        shared: Arc<Shared>,
        text: &str,
        repository: &Repository,
        referrer: Option<&Self>,
    ) -> Result<Self> {
        let fetched = shared.fetch_repository(text, repository)?;
        let tree = fetched.tree;
        let path = clean(&fetched.root.join(&repository.directory)).into_owned();
        // What comes from elsewhere is never trusted with more.
        let restriction = LoadRestriction::RootOnly;
        let root = tree
            .real_dir(&path)
            .map_err(|error| error::not_a_root(&*tree, restriction, &path, &error))?;
        let depth = referrer.map_or(0, |referrer| referrer.link.depth + 1);
        let origin = Fetched {
            text: text.to_owned(),
            depth,
            above: referrer.map(|referrer| Arc::clone(&referrer.files)),
        };
        let files =
            Files { tree, restriction, cache: Mutex::default(), origin: Some(origin), shared };
        let above = referrer.map(|referrer| Arc::clone(&referrer.link));
        let link = Link { root: root.into(), above, depth };
        Ok(Self { files: Arc::new(files), link: Arc::new(link) })
    }

    /// The real path of the kustomization's directory.
    pub(crate) fn root(&self) -> &Arc<Path> {
        &self.link.root
    }

    /// Whether the directory is in a repository that was fetched.
    pub(crate) fn is_remote(&self) -> bool {
        self.files.origin.is_some()
    }

    /// What the build has fetched so far, in order.
    pub(crate) fn remote_sources(&self) -> MutexGuard<'_, Vec<RemoteSource>> {
        self.files.shared.used.lock()
    }

    /// Reads a file named in the kustomization.
    pub(crate) fn read(&self, path: &str) -> Result<File> {
        if remote::is_url(path) {
            return self.files.shared.fetch_file(path).map_err(|reason| match reason {
                NoFile::MaybeRepository(_, error) | NoFile::Failed(error) => error,
            });
        }
        self.try_read(path).map_err(|error| self.explain(path, &error))
    }

    /// Reads a file and leaves it to the caller what to say if that fails.
    pub(crate) fn try_read(&self, path: &str) -> std::result::Result<File, FsError> {
        let path = self.absolute(path);
        if let Some((root, file)) = self.cache().get(&path)
            && root == self.root()
        {
            return Ok(file.clone());
        }
        let bounds = match self.files.restriction {
            LoadRestriction::RootOnly => Bounds::Within(self.root()),
            LoadRestriction::None => Bounds::Anywhere,
        };
        let content = Content::from(&self.files.tree.read(&path, bounds)?[..]);
        let file = File { path: Arc::from(path.as_path()), content };
        if file.content.as_bytes().len() <= MAX_CACHED_SIZE {
            self.cache().insert(path, (self.root().clone(), file.clone()));
        }
        Ok(file)
    }

    /// The error of a build that needs a file and could not read it.
    pub(crate) fn explain(&self, path: &str, error: &FsError) -> Error {
        let Files { tree, restriction, .. } = &*self.files;
        error::unreadable(&**tree, *restriction, self.root(), &self.absolute(path), error)
    }

    /// The loader of another kustomization's directory, named relative to this one.
    pub(crate) fn enter(&self, path: &str) -> Result<Self> {
        if path.is_empty() {
            return Err(Error::new("new root cannot be empty"));
        }
        if let Some(repository) = Repository::parse(path) {
            return self.enter_repository(path, &repository);
        }
        if Path::new(path).is_absolute() {
            return Err(Error::new(format!("new root '{path}' cannot be absolute"))
                .hint("name the directory relative to the kustomization that refers to it"));
        }
        let path = self.absolute(path);
        let tree = &*self.files.tree;
        let restriction = self.files.restriction;
        let root = tree
            .real_dir(&path)
            .map_err(|error| error::not_a_root(tree, restriction, &path, &error))?;
        self.refuse_cycle(&root)?;
        self.count_entry(&root)?;
        let link =
            Link { root: root.into(), above: Some(self.link.clone()), depth: self.link.depth + 1 };
        Ok(Self { files: self.files.clone(), link: Arc::new(link) })
    }

    fn enter_repository(&self, text: &str, repository: &Repository) -> Result<Self> {
        if self.is_remote() && repository.is_local() {
            return Err(Error::new(format!(
                "security; '{text}' is on this machine, and a repository that was fetched refers to it"
            )));
        }
        self.refuse_repository_cycle(text)?;
        self.count_entry(Path::new(&*printable(text)))?;
        Self::at_repository(Arc::clone(&self.files.shared), text, repository, Some(self))
    }

    /// A file, or the directory of another kustomization: what an entry of `resources` names.
    ///
    /// A file comes first, then a repository, then a local directory.
    pub(crate) fn resource(&self, path: &str) -> Result<Entry> {
        if remote::is_url(path) {
            return match self.files.shared.fetch_file(path) {
                Ok(file) => Ok(Entry::File(file)),
                Err(NoFile::Failed(error)) => Err(error),
                Err(NoFile::MaybeRepository(repository, file_error)) => self
                    .enter_repository(path, &repository)
                    .within(|| format!("accumulation err='{file_error}'"))
                    .map(Entry::Directory),
            };
        }
        let error = match self.try_read(path) {
            Ok(file) => return Ok(Entry::File(file)),
            Err(error) => error,
        };
        if matches!(error, FsError::IsDirectory { .. }) || Repository::parse(path).is_some() {
            return self
                .enter(path)
                .map(Entry::Directory)
                .map_err(|error| self.after_file(path, error));
        }
        // Nothing is there to enter either, and the file is more likely meant.
        let error = self.explain(path, &error);
        Err(self.before_directory(path, error.within(reading(path))))
    }

    /// Notes with a mistake in a file that kustomize would try it as a directory next.
    pub(crate) fn before_directory(&self, path: &str, error: Error) -> Error {
        if remote::is_url(path) || Repository::parse(path).is_some() {
            return error;
        }
        match self.enter(path) {
            Ok(_) => error,
            Err(reason) => error.aside(Aside::NotDirectory(reason.to_string())),
        }
    }

    /// Notes with a mistake in a directory that kustomize would have tried it as a file before.
    pub(crate) fn after_file(&self, path: &str, error: Error) -> Error {
        if remote::is_url(path) {
            return error;
        }
        match self.try_read(path) {
            Ok(_) => error,
            Err(reason) => {
                let reason = self.explain(path, &reason).within(reading(path));
                error.aside(Aside::NotFile(reason.to_string()))
            }
        }
    }

    /// The repository behind a URL whose answer turned out to be no manifest: hosts show pages for
    /// people at the same address.
    pub(crate) fn behind_page(&self, path: &str) -> Option<Result<Self>> {
        let repository = Repository::parse(path).filter(|_| remote::is_url(path))?;
        Some(self.enter_repository(path, &repository))
    }

    /// Names of the files in the kustomization's directory.
    pub(crate) fn list(&self) -> Vec<String> {
        self.files.tree.list(self.root()).unwrap_or_default()
    }

    fn absolute(&self, path: &str) -> PathBuf {
        clean(&self.root().join(path)).into_owned()
    }

    fn cache(&self) -> MutexGuard<'_, FxHashMap<PathBuf, (Arc<Path>, File)>> {
        self.files.cache.lock()
    }

    /// A directory above one that is being built would contain it again.
    fn refuse_cycle(&self, candidate: &Path) -> Result<()> {
        let first = self.files.origin.as_ref().map_or(0, |origin| origin.depth);
        let mut visited = Some(&self.link);
        while let Some(link) = visited.filter(|link| link.depth >= first) {
            if link.root.starts_with(candidate) {
                return Err(Error::new(format!(
                    "cycle detected: candidate root '{}' contains visited root '{}'",
                    candidate.display(),
                    link.root.display()
                ))
                .hint(self.chain_to(candidate)));
            }
            visited = link.above.as_ref();
        }
        Ok(())
    }

    /// A repository that is named again within itself, with the same words or fewer.
    fn refuse_repository_cycle(&self, text: &str) -> Result<()> {
        let mut files = Some(&self.files);
        while let Some(origin) = files.and_then(|files| files.origin.as_ref()) {
            if origin.text.starts_with(text) {
                return Err(Error::new(format!(
                    "cycle detected: URI '{}' referenced by previous URI '{}'",
                    printable(text),
                    printable(&origin.text)
                )));
            }
            files = origin.above.as_ref();
        }
        Ok(())
    }

    /// Who refers to whom: the last few steps on the way to `candidate`.
    fn chain_to(&self, candidate: &Path) -> String {
        const SHOWN: usize = 6;
        let links = std::iter::successors(Some(&self.link), |link| link.above.as_ref());
        let mut names: Vec<_> = links.take(SHOWN).map(|link| link.root.display()).collect();
        names.reverse();
        names.push(candidate.display());
        let names: Vec<_> = names.iter().map(ToString::to_string).collect();
        names.join(" refers to ")
    }

    fn count_entry(&self, root: &Path) -> Result<()> {
        if self.link.depth >= MAX_DEPTH {
            return Err(Error::new(format!(
                "'{}' is nested more than {MAX_DEPTH} kustomizations deep",
                root.display()
            )));
        }
        if self.files.shared.entered.fetch_add(1, Ordering::Relaxed) >= MAX_ENTERED {
            return Err(Error::new(format!(
                "the build reads more than {MAX_ENTERED} kustomizations"
            ))
            .hint("is a base included by many others, and those by many others again?"));
        }
        Ok(())
    }
}

/// What is being done to an entry of `resources` that is taken for a file.
pub(crate) fn reading(path: &str) -> String {
    format!("accumulating resources from '{}'", printable(path))
}

#[cfg(test)]
mod tests;
