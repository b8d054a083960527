//! A repository that tests write to with the real Git.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// A repository with a work tree.
#[derive(Debug)]
pub struct GitRepository {
    path: PathBuf,
}

impl GitRepository {
    pub(crate) fn create(path: &Path) -> Self {
        fs::create_dir_all(path).expect("a directory for the repository");
        let repository = Self { path: path.to_owned() };
        repository.git(&["init", "--quiet", "--initial-branch=main"]);
        repository
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes files, commits everything there is, and returns the commit.
    pub fn commit(&self, files: &[(&str, &str)]) -> String {
        for (name, content) in files {
            let path = self.path.join(name);
            fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
            fs::write(path, content).expect("a file of the repository");
        }
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "--message=a commit"]);
        self.git(&["rev-parse", "HEAD"])
    }

    /// Makes an empty commit that claims to be of some second since 1970, and returns it.
    pub fn commit_at(&self, seconds: u32) -> String {
        let time = format!("@{seconds} +0000");
        let arguments = ["commit", "--quiet", "--allow-empty", "--message=a commit"];
        self.run(&arguments, &[("GIT_COMMITTER_DATE", &time)]);
        self.git(&["rev-parse", "HEAD"])
    }

    /// Runs `git` in the repository and returns what it prints.
    pub fn git(&self, arguments: &[&str]) -> String {
        self.run(arguments, &[])
    }

    fn run(&self, arguments: &[&str], variables: &[(&str, &str)]) -> String {
        let identity = ["-c", "user.name=test", "-c", "user.email=test@example.com"];
        let mut git = super::git(&self.path);
        git.envs(variables.iter().copied());
        let output = git.args(identity).args(arguments).output().expect("git starts");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "git {arguments:?}: {errors}");
        String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
    }
}
