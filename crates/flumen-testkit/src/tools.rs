//! The programs of others that judge ours, and where they are found.
//!
//! `cargo xtask tools` puts them into a cache of the user. A test asks [`tool`] and says
//! [`skip`](crate::skip) when there is none, since a machine need not have them.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
};

use crate::outside::repository_root;

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
    /// A package of Debian that holds the program. Its version is that of the distribution. `probe` is the argument
    /// with which the program says its version and ends.
    Debian { package: &'static str, probe: &'static str },
    /// A package that a Go module of ours holds or needs: the directory of the module, below the root of the
    /// repository, and the package. What several of them need is in one version, and so is built once.
    Module { directory: &'static str, package: &'static str },
    /// A module of Go and its version whose own module file replaces others, which `go install` refuses: it is
    /// built where it is unpacked. These modules are taken in the given versions instead.
    GoRelease { module: &'static str, replaced: &'static [&'static str] },
}

/// All judges.
pub const TOOLS: [Tool; 10] = [
    Tool { name: "skopeo", origin: Origin::Debian { package: "skopeo", probe: "--version" } },
    Tool { name: "sshd", origin: Origin::Debian { package: "openssh-server", probe: "-V" } },
    Tool {
        name: "docker-registry",
        origin: Origin::Debian { package: "docker-registry", probe: "--version" },
    },
    Tool { name: "kustomize", origin: Origin::Go("sigs.k8s.io/kustomize/kustomize/v5@v5.8.1") },
    Tool { name: "crane", origin: needed("github.com/google/go-containerregistry/cmd/crane") },
    Tool { name: "registry", origin: needed("./registry") },
    Tool { name: "cosign", origin: needed("./cosign") },
    Tool { name: "helm3", origin: needed("helm.sh/helm/v3/cmd/helm") },
    Tool { name: "helm4", origin: needed("helm.sh/helm/v4/cmd/helm") },
    // Beside Kubernetes, whose client library it is made of.
    Tool {
        name: "informer",
        origin: Origin::Module { directory: "tests/kube", package: "./informer" },
    },
];

/// A package of the module that has all judges which need no module of their own.
const fn needed(package: &'static str) -> Origin {
    Origin::Module { directory: "tests/tools", package }
}

/// The controllers that ours is measured against. No test needs them.
pub const PEERS: [Tool; 2] = [
    Tool {
        name: "source-controller",
        origin: Origin::GoRelease {
            module: "github.com/fluxcd/source-controller@v1.9.6",
            replaced: &[
                "github.com/fluxcd/source-controller/api@v1.9.5",
                "github.com/fluxcd/pkg/apis/event@v0.27.1",
                "github.com/fluxcd/pkg/artifact@v0.18.1",
            ],
        },
    },
    Tool {
        name: "kustomize-controller",
        origin: Origin::GoRelease {
            module: "github.com/fluxcd/kustomize-controller@v1.9.5",
            replaced: &[
                "github.com/fluxcd/kustomize-controller/api@v1.9.5",
                "github.com/fluxcd/pkg/apis/event@v0.27.1",
            ],
        },
    },
];

/// Where a judge or a peer is: in the directory that the environment names, in the cache, or on `PATH`.
pub fn tool(name: &str) -> Option<PathBuf> {
    let named = env::var_os(TOOLS_VARIABLE).map(PathBuf::from);
    let listed = TOOLS.iter().chain(&PEERS).find(|tool| tool.name == name);
    let on_path = env::var_os("PATH").map(|path| env::split_paths(&path).collect::<Vec<_>>());
    find(named, name)
        .or_else(|| cached(listed?))
        .or_else(|| find(on_path.unwrap_or_default(), name))
}

/// Where a tool is in the cache, if it is there.
pub(crate) fn cached(tool: &Tool) -> Option<PathBuf> {
    find([tool_cache(tool).ok()?.join("bin")], tool.name)
}

/// The directory of the cache that belongs to a tool as it is listed now; the program is in its `bin`.
///
/// Programs of one Go module share a directory, since one build makes all of them. Every other tool has its own:
/// a new version of one is no reason to build the others again.
pub fn tool_cache(tool: &Tool) -> io::Result<PathBuf> {
    let caches = match env::var_os("XDG_CACHE_HOME").map(PathBuf::from) {
        Some(path) if path.is_absolute() => Some(path),
        _ => env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache")),
    };
    let caches =
        caches.ok_or_else(|| io::Error::other("neither XDG_CACHE_HOME nor HOME is set"))?;
    let owner = match tool.origin {
        Origin::Module { directory, .. } => directory.replace('/', "-"),
        _ => tool.name.to_owned(),
    };
    Ok(caches.join("flumen").join("tools").join(format!("{owner}-{}", key(tool)?)))
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

/// Differs between all versions of a tool.
fn key(tool: &Tool) -> io::Result<String> {
    let mut bytes = Vec::new();
    match tool.origin {
        Origin::Go(package) => bytes.extend(format!("go {package}").into_bytes()),
        Origin::GoRelease { module, replaced } => {
            bytes.extend(format!("go release {module} {}", replaced.join(" ")).into_bytes());
        }
        Origin::Debian { package, .. } => bytes.extend(format!("debian {package}").into_bytes()),
        Origin::Module { directory, .. } => {
            let directory = repository_root().join(directory);
            for file in ["go.mod", "go.sum"] {
                bytes.extend(fs::read(directory.join(file))?);
            }
            for program in own_programs(&directory)? {
                bytes.extend(fs::read(program)?);
            }
        }
    }
    Ok(fingerprint(bytes))
}

/// The source files of the programs that a Go module holds itself, in a fixed order.
fn own_programs(module: &Path) -> io::Result<Vec<PathBuf>> {
    let mut programs = Vec::new();
    for entry in fs::read_dir(module)? {
        let program = entry?.path().join("main.go");
        if program.is_file() {
            programs.push(program);
        }
    }
    programs.sort();
    Ok(programs)
}

/// FNV-1a: short, and the same with every compiler.
fn fingerprint(bytes: impl IntoIterator<Item = u8>) -> String {
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
        let [old, new] = ["example.com/tool@v1", "example.com/tool@v2"]
            .map(|package| Tool { name: "tool", origin: Origin::Go(package) });
        let cache = |tool: &Tool| tool_cache(tool).expect("a place for caches");
        assert_ne!(cache(&old), cache(&new));
        assert_eq!(cache(&old), cache(&old));
        for tool in TOOLS.iter().chain(&PEERS).chain(&crate::KUBE_PROGRAMS) {
            cache(tool);
        }
    }
}
