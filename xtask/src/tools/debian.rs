//! Tools that Debian packages, downloaded and unpacked beside the system instead of into it.
//!
//! A program of a package finds its files where they would be, except for shared libraries. Those
//! that the machine does not have are unpacked, too, and a small script points the program to them.

use std::{
    fmt::Write as _,
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    Result,
    process::{capture, find, run_quietly},
    progress::say,
};

/// Libraries need libraries; no program here is more than a few steps deep.
const MOST_ROUNDS: usize = 8;

/// Unpacks `package` with the libraries that are missing, and puts a script for `program` into `bin`, if it runs
/// with the argument `probe`.
pub(super) fn install(package: &str, program: &str, probe: &str, cache: &Path) -> Result {
    if ["apt-get", "apt-cache", "dpkg-deb"].into_iter().any(|name| find(name).is_none()) {
        return Err("there is no apt to download Debian's package with".into());
    }
    let home = cache.join("debian");
    let root = home.join(package).join("root");
    let mut apt = Apt { archives: home.join(package).join("archives"), private: None, home: &home };
    fs::create_dir_all(&apt.archives)?;
    apt.download(package, &root)?;
    let places = ["usr/bin", "usr/sbin"].map(|place| root.join(place).join(program));
    let binary = places.into_iter().find(|path| path.is_file());
    let binary = binary.ok_or_else(|| format!("`{package}` holds no program `{program}`"))?;
    add_libraries(&mut apt, package, &binary, &root)?;
    write_script(&binary, &library_directories(&root)?, probe, &cache.join("bin").join(program))
}

fn add_libraries(apt: &mut Apt<'_>, package: &str, binary: &Path, root: &Path) -> Result {
    let mut added: Vec<String> = Vec::new();
    for _ in 0..MOST_ROUNDS {
        let listed = capture(
            with_libraries(&mut Command::new("ldd"), &library_directories(root)?).arg(binary),
        )?;
        let missing = missing_libraries(&listed);
        if missing.is_empty() {
            return Ok(());
        }
        let dependencies = apt.dependencies(package)?;
        for library in missing {
            let provider = providers(library, &dependencies)
                .find(|provider| !added.iter().any(|done| done == provider))
                .ok_or_else(|| format!("no package for its library `{library}`"))?;
            apt.download(provider, root)?;
            added.push(provider.to_owned());
        }
    }
    Err("its libraries need more and more libraries".into())
}

/// Downloads of one package, with the package lists of the system or, when it has none, our own.
struct Apt<'a> {
    archives: PathBuf,
    /// Settings that point to our own lists.
    private: Option<[String; 2]>,
    home: &'a Path,
}

impl Apt<'_> {
    fn download(&mut self, package: &str, root: &Path) -> Result {
        let archive = format!("{package}_");
        let fetch = |apt: &Self| {
            let mut command = apt.command("apt-get");
            run_quietly(command.args(["download", package]).current_dir(&apt.archives))
        };
        if let Err(error) = fetch(self) {
            if self.private.is_some() {
                return Err(error);
            }
            say(&format!("    {package}: {error}; retried with package lists of our own"));
            self.update()?;
            fetch(self)?;
        }
        let mut unpacked = false;
        for entry in fs::read_dir(&self.archives)? {
            let entry = entry?;
            if entry.file_name().to_string_lossy().starts_with(&archive) {
                run_quietly(Command::new("dpkg-deb").arg("-x").arg(entry.path()).arg(root))?;
                unpacked = true;
            }
        }
        if unpacked { Ok(()) } else { Err(format!("apt gave no package `{package}`").into()) }
    }

    /// Fetches the package lists into a directory of our own.
    fn update(&mut self) -> Result {
        let (lists, cache) = (self.home.join("apt/lists"), self.home.join("apt/cache"));
        fs::create_dir_all(lists.join("partial"))?;
        fs::create_dir_all(cache.join("archives/partial"))?;
        self.private = Some([
            format!("Dir::State::Lists={}", lists.display()),
            format!("Dir::Cache={}", cache.display()),
        ]);
        run_quietly(self.command("apt-get").arg("update"))
    }

    /// All packages that `package` cannot do without.
    fn dependencies(&self, package: &str) -> Result<Vec<String>> {
        let mut command = self.command("apt-cache");
        command.args(["depends", "--recurse", "--no-recommends", "--no-suggests"]);
        command.args(["--no-conflicts", "--no-breaks", "--no-replaces", "--no-enhances", package]);
        let listed = capture(&mut command)?;
        let names = listed.lines().filter(|line| !line.starts_with([' ', '|', '<']));
        Ok(names.map(str::to_owned).collect())
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        // Its sandbox has no access to our directory.
        command.args(["-o", "APT::Sandbox::User=root"]).env("LC_ALL", "C");
        for setting in self.private.iter().flatten() {
            command.args(["-o", setting]);
        }
        command
    }
}

/// The libraries that `ldd` did not find.
fn missing_libraries(listed: &str) -> Vec<&str> {
    listed.lines().filter_map(|line| line.trim().strip_suffix(" => not found")).collect()
}

/// The packages that are named after a library: `libgpgme.so.11` is in `libgpgme11` or `libgpgme11t64`.
fn providers<'a>(library: &str, dependencies: &'a [String]) -> impl Iterator<Item = &'a str> {
    let name = library.split(".so").next().unwrap_or(library).to_lowercase().replace('_', "-");
    dependencies.iter().map(String::as_str).filter(move |package| package.starts_with(&name))
}

/// The directories below `root` that hold shared libraries, in the order of their names.
fn library_directories(root: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut open: Vec<_> = ["lib", "usr/lib"]
        .map(|dir| root.join(dir))
        .into_iter()
        .filter(|dir| dir.is_dir())
        .collect();
    while let Some(directory) = open.pop() {
        let mut holds_libraries = false;
        for entry in fs::read_dir(&directory)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                open.push(entry.path());
            } else {
                holds_libraries |= entry.file_name().to_string_lossy().contains(".so");
            }
        }
        if holds_libraries {
            found.push(directory);
        }
    }
    found.sort();
    Ok(found)
}

fn with_libraries<'a>(command: &'a mut Command, directories: &[PathBuf]) -> &'a mut Command {
    command.env("LD_LIBRARY_PATH", joined(directories))
}

fn joined(directories: &[PathBuf]) -> String {
    let texts: Vec<_> = directories.iter().map(|path| path.to_string_lossy()).collect();
    texts.join(":")
}

/// Writes the script under another name first, so that it is complete or absent.
fn write_script(binary: &Path, directories: &[PathBuf], probe: &str, script: &Path) -> Result {
    let quote = |text: &str| format!("'{}'", text.replace('\'', r"'\''"));
    let mut text = "#!/bin/sh\n# Made by `cargo xtask tools`.\n".to_owned();
    if !directories.is_empty() {
        let libraries = quote(&joined(directories));
        let _ =
            writeln!(text, "LD_LIBRARY_PATH={libraries}${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}");
        text.push_str("export LD_LIBRARY_PATH\n");
    }
    let _ = writeln!(text, "exec {} \"$@\"", quote(&binary.to_string_lossy()));
    let unfinished = script.with_extension("new");
    fs::write(&unfinished, text)?;
    fs::set_permissions(&unfinished, fs::Permissions::from_mode(0o755))?;
    run_quietly(Command::new(&unfinished).arg(probe))?;
    fs::rename(unfinished, script)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_libraries_are_read_from_ldd() {
        let listed = "\tlinux-vdso.so.1 (0x00007faf15198000)\n\
                      \tlibgpgme.so.11 => not found\n\
                      \tlibc.so.6 => /lib/libc.so.6 (0x00007faf14f38000)\n";
        assert_eq!(missing_libraries(listed), ["libgpgme.so.11"]);
    }

    #[test]
    fn libraries_are_found_by_the_names_of_packages() {
        let dependencies = ["libc6", "libgpgme11t64", "libassuan0"].map(str::to_owned);
        let found: Vec<_> = providers("libgpgme.so.11", &dependencies).collect();
        assert_eq!(found, ["libgpgme11t64"]);
        assert_eq!(providers("libother.so.1", &dependencies).next(), None);
    }

    #[test]
    fn scripts_pass_arguments_on_and_are_whole() {
        let scratch = tempfile::tempdir().expect("a scratch directory");
        let binary = scratch.path().join("it's one");
        let text = "#!/bin/sh\ntest \"$1\" != --version && echo \"$LD_LIBRARY_PATH\" \"$@\"\n";
        fs::write(&binary, text).expect("written");
        fs::set_permissions(&binary, fs::Permissions::from_mode(0o755)).expect("executable");
        let script = scratch.path().join("one");
        let libraries = [PathBuf::from("/a"), PathBuf::from("/b")];
        assert!(write_script(&binary, &libraries, "--version", &script).is_err());
        assert!(!script.exists());
        write_script(&binary, &libraries, "-V", &script).expect("runs");
        let output = capture(Command::new(&script).args(["x y"]).env_remove("LD_LIBRARY_PATH"));
        assert_eq!(output.expect("runs"), "/a:/b x y\n");
        assert!(write_script(&scratch.path().join("none"), &[], "-V", &script).is_err());
    }
}
