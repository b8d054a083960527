//! The programs of others that judge ours, and where they are found.
//!
//! `cargo xtask tools` puts them into a cache of the user. A test asks [`tool`] and says
//! [`skip`](crate::skip) when there is none, since a machine need not have them.

use std::{
    env,
    path::{Path, PathBuf},
};

/// Overrides where the tools are; `cargo xtask test` sets it for the tests that it starts.
pub const TOOLS_VARIABLE: &str = "FLUMEN_TOOLS";

/// A program that judges, and where it comes from.
#[derive(Debug, Clone, Copy)]
pub struct Tool {
    /// The name of the program.
    pub name: &'static str,
    pub origin: Origin,
}

#[derive(Debug, Clone, Copy)]
pub enum Origin {
    /// A package of Go and its version, as `go install` takes them.
    Go(&'static str),
    /// A package of Debian that holds the program. Its version is that of the distribution.
    Debian(&'static str),
}

/// All judges. A change here makes a new cache.
pub const TOOLS: [Tool; 6] = [
    Tool { name: "skopeo", origin: Origin::Debian("skopeo") },
    Tool { name: "docker-registry", origin: Origin::Debian("docker-registry") },
    Tool {
        name: "crane",
        origin: Origin::Go("github.com/google/go-containerregistry/cmd/crane@v0.22.1"),
    },
    Tool {
        name: "registry",
        origin: Origin::Go("github.com/distribution/distribution/v3/cmd/registry@v3.1.2"),
    },
    Tool { name: "kustomize", origin: Origin::Go("sigs.k8s.io/kustomize/kustomize/v5@v5.8.1") },
    Tool { name: "cosign", origin: Origin::Go("github.com/sigstore/cosign/v3/cmd/cosign@v3.1.3") },
];

/// Where a judge is: in the directory that the environment names, in the cache, or on `PATH`.
pub fn tool(name: &str) -> Option<PathBuf> {
    let named = env::var_os(TOOLS_VARIABLE).map(PathBuf::from);
    let cached = tools_cache().map(|cache| cache.join("bin"));
    let on_path = env::var_os("PATH").map(|path| env::split_paths(&path).collect::<Vec<_>>());
    find(named.into_iter().chain(cached).chain(on_path.unwrap_or_default()), name)
}

/// The directory of the cache that belongs to [`TOOLS`]; its programs are in `bin`.
///
/// `None` on a machine that names no place for caches.
pub fn tools_cache() -> Option<PathBuf> {
    Some(cache()?.join("tools").join(key(&TOOLS)))
}

/// The directory of everything that tests need and that is made once per machine.
pub(crate) fn cache() -> Option<PathBuf> {
    let caches = match env::var_os("XDG_CACHE_HOME").map(PathBuf::from) {
        Some(path) if path.is_absolute() => path,
        _ => PathBuf::from(env::var_os("HOME")?).join(".cache"),
    };
    Some(caches.join("flumen"))
}

pub(crate) fn find(directories: impl IntoIterator<Item = PathBuf>, name: &str) -> Option<PathBuf> {
    let file = format!("{name}{}", env::consts::EXE_SUFFIX);
    directories.into_iter().map(|directory| directory.join(&file)).find(|path| is_program(path))
}

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;

    path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(path: &Path) -> bool {
    path.is_file()
}

fn key(tools: &[Tool]) -> String {
    let list = tools.iter().map(|tool| match tool.origin {
        Origin::Go(package) => format!("{} go {package}\n", tool.name),
        Origin::Debian(package) => format!("{} debian {package}\n", tool.name),
    });
    fingerprint(list.flat_map(String::into_bytes))
}

/// FNV-1a: short, and the same with every compiler.
pub(crate) fn fingerprint(bytes: impl IntoIterator<Item = u8>) -> String {
    let hash = bytes.into_iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{hash:016x}")
}

#[cfg(all(test, unix))]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt as _};

    use super::*;

    #[test]
    fn the_first_directory_with_the_program_wins() {
        let scratch = tempfile::tempdir().expect("a scratch directory");
        let [empty, text, first, second] = ["empty", "text", "first", "second"].map(|name| {
            let directory = scratch.path().join(name);
            fs::create_dir(&directory).expect("created");
            directory
        });
        fs::write(text.join("crane"), "not executable").expect("written");
        for directory in [&first, &second] {
            fs::write(directory.join("crane"), "").expect("written");
            let mode = fs::Permissions::from_mode(0o755);
            fs::set_permissions(directory.join("crane"), mode).expect("made executable");
        }
        let directories = [empty, text, first.clone(), second];
        assert_eq!(find(directories.clone(), "crane"), Some(first.join("crane")));
        assert_eq!(find(directories, "skopeo"), None);
    }

    #[test]
    fn another_version_is_another_cache() {
        let mut newer = TOOLS;
        newer[0].origin = Origin::Go("example.com/skopeo@v2");
        assert_ne!(key(&TOOLS), key(&newer));
        assert_eq!(key(&TOOLS), key(&TOOLS.clone()));
    }
}
