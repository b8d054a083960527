//! Git repositories behind the real `sshd` on loopback.
//!
//! It runs once for each connection, as it does under inetd, so that the port is ours and nothing has
//! to be waited for. Who may come in is the user who runs the test, with the keys that it authorises.
//!
//! What should never go wrong panics, as tests do.
#![allow(clippy::missing_panics_doc, reason = "said once for all of it")]

use std::{
    fs,
    net::{TcpListener, TcpStream},
    os::fd::OwnedFd,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use tempfile::TempDir;

use crate::{GitRepository, skip, tool};

/// As in the file of users; it owns nothing.
const PRIVILEGE_SEPARATION_USER: &str = "sshd:x:65534:65534::/run/sshd:/usr/sbin/nologin";

/// A server that goes when it is dropped.
#[derive(Debug)]
pub struct SshServer {
    directory: TempDir,
    port: u16,
    user: String,
    is_over: Arc<AtomicBool>,
}

/// A pair of keys, as `ssh-keygen` writes them.
#[derive(Clone, Debug)]
pub struct SshKey {
    pub private: String,
    pub public: String,
}

impl SshServer {
    /// Starts a server, or says that `what` is skipped because this machine has no sshd.
    ///
    /// `settings` are lines of its configuration, such as which variables it takes from clients. Its
    /// own key is of type Ed25519.
    pub fn start(what: &str, settings: &str) -> Option<Self> {
        for needed in ["sshd", "ssh-keygen", "git", "id"] {
            if tool(needed).is_none() {
                skip(what, &format!("{needed} is not installed"));
                return None;
            }
        }
        let mut sshd = Sshd { program: tool("sshd")?, users: None };
        let directory = tempfile::tempdir().expect("scratch directory");
        let user = output(Command::new("id").arg("-un"));
        let at = |name: &str| directory.path().join(name);
        if user == "root" {
            // It insists on this one, and on no other.
            let _ = fs::create_dir_all("/run/sshd");
            let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
            if !users.lines().any(|line| line.starts_with("sshd:")) {
                if tool("unshare").is_none() {
                    skip(what, "there is no user sshd, and no unshare to pretend one");
                    return None;
                }
                fs::write(at("passwd"), format!("{users}{PRIVILEGE_SEPARATION_USER}\n"))
                    .expect("a file");
                sshd.users = Some(at("passwd"));
            }
        }
        generate(&at("host"), "ed25519", "");
        fs::write(at("authorized"), "").expect("a file");
        let configuration = format!(
            "HostKey {}\nAuthorizedKeysFile {}\nStrictModes no\nUsePAM no\nPidFile none\n\
             PasswordAuthentication no\nPermitRootLogin prohibit-password\n{settings}\n",
            at("host").display(),
            at("authorized").display(),
        );
        fs::write(at("sshd_config"), configuration).expect("a file");

        let listener = TcpListener::bind("127.0.0.1:0").expect("a port on loopback");
        let port = listener.local_addr().expect("an address").port();
        let is_over = Arc::new(AtomicBool::new(false));
        let server = Self { port, user, is_over: Arc::clone(&is_over), directory };
        let configuration = server.directory.path().join("sshd_config");
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if is_over.load(Ordering::Relaxed) {
                    break;
                }
                sshd.serve(&configuration, stream);
            }
        });
        Some(server)
    }

    /// Makes a repository with an empty `main` branch.
    pub fn create_repository(&self, name: &str) -> GitRepository {
        GitRepository::create(&self.directory.path().join(name))
    }

    /// The address of a repository that was made here.
    pub fn url(&self, name: &str) -> String {
        let path = self.directory.path().join(name);
        format!("ssh://{}@127.0.0.1:{}{}", self.user, self.port, path.display())
    }

    /// The host as clients know it.
    pub fn host(&self) -> String {
        format!("[127.0.0.1]:{}", self.port)
    }

    /// The public key of the server, without a name.
    pub fn host_key(&self) -> String {
        let key = fs::read_to_string(self.directory.path().join("host.pub")).expect("a key");
        key.split_whitespace().take(2).collect::<Vec<_>>().join(" ")
    }

    /// The line for this server in a file of known hosts.
    pub fn known_hosts(&self) -> String {
        format!("{} {}\n", self.host(), self.host_key())
    }

    /// Makes a pair of keys: `rsa`, `ecdsa` or `ed25519`, encrypted if there is a passphrase.
    pub fn generate_key(&self, kind: &str, passphrase: &str) -> SshKey {
        let directory = tempfile::tempdir_in(self.directory.path()).expect("scratch directory");
        generate(&directory.path().join("key"), kind, passphrase)
    }

    /// Lets in who has the key.
    pub fn authorize(&self, key: &SshKey) {
        let path = self.directory.path().join("authorized");
        let known = fs::read_to_string(&path).expect("a file");
        fs::write(path, format!("{known}{}\n", key.public)).expect("a file");
    }
}

impl SshKey {
    /// Makes a pair of keys in a directory of the caller; see [`SshServer::generate_key`].
    pub fn generate(path: &Path, kind: &str, passphrase: &str) -> Self {
        generate(path, kind, passphrase)
    }
}

impl Drop for SshServer {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        // Wakes the thread that waits for connections.
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }
}

/// The program, and what it must be given.
struct Sshd {
    program: PathBuf,
    /// The users of the machine and the one that it separates its privileges with, where the machine has none: its package
    /// was unpacked, not installed.
    users: Option<PathBuf>,
}

impl Sshd {
    /// Hands a connection to the program, which ends with it.
    fn serve(&self, configuration: &Path, stream: TcpStream) {
        let output = stream.try_clone().expect("a second handle");
        let child = self
            .command()
            .arg("-i")
            .arg("-f")
            .arg(configuration)
            .stdin(Stdio::from(OwnedFd::from(stream)))
            .stdout(Stdio::from(OwnedFd::from(output)))
            .stderr(Stdio::null())
            .spawn();
        if let Ok(mut child) = child {
            thread::spawn(move || child.wait());
        }
    }

    fn command(&self) -> Command {
        let Some(users) = &self.users else { return Command::new(&self.program) };
        // Nobody else sees these users.
        let mut command = Command::new("unshare");
        command.args(["--mount", "sh", "-c", "mount --bind \"$0\" /etc/passwd && exec \"$@\""]);
        command.arg(users).arg(&self.program);
        command
    }
}

fn generate(path: &Path, kind: &str, passphrase: &str) -> SshKey {
    let keygen = tool("ssh-keygen").expect("ssh-keygen");
    let comment = "test@example.com";
    output(
        Command::new(keygen)
            .args(["-q", "-t", kind, "-N", passphrase, "-C", comment, "-f"])
            .arg(path),
    );
    let read = |path: &Path| fs::read_to_string(path).expect("a key");
    SshKey { private: read(path), public: read(&path.with_extension("pub")).trim_end().to_owned() }
}

/// What a program prints.
fn output(command: &mut Command) -> String {
    let output = command.output().expect("the program starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {errors}");
    String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
}
