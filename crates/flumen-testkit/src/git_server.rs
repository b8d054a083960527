//! Git repositories behind HTTP, served by the real `git http-backend` on loopback.
//!
//! The first part of a path chooses how the server behaves:
//!
//! | path | answer |
//! |---|---|
//! | `/files/NAME` | a file given with [`GitServer::put_file`] |
//! | `/private/REPO` | only for user `me` with password `secret` |
//! | `/token/REPO` | only for who bears the token `t0ken` |
//! | `/v0/REPO` | without version 2 of the protocol |
//! | `/page/REPO` | a page for people, and the repository for Git |
//! | `/moved/REPO` | a redirection to the repository |
//! | `/elsewhere/REPO` | a redirection to the private one under another host name |
//! | `/stalled/…` | none, ever |
//! | `/endless/…` | one without an end |
//! | `/damaged-N/REPO` | the repository, with the byte at N thousandths of the pack changed |
//! | `/REPO` | the repository |
//!
//! What should never go wrong panics, as tests do.
#![allow(clippy::missing_panics_doc, reason = "said once for all of it")]

pub(crate) mod repository;
mod request;

use std::{
    collections::BTreeMap,
    io::{self, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    path::Path,
    process::{Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use parking_lot::Mutex;
use tempfile::TempDir;

pub use self::repository::GitRepository;
use self::request::Request;
use crate::skip;

/// A server that goes when it is dropped.
#[derive(Debug)]
pub struct GitServer {
    port: u16,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    directory: TempDir,
    files: Mutex<BTreeMap<String, Vec<u8>>>,
    requests: Mutex<Vec<String>>,
    is_over: AtomicBool,
    port: u16,
}

impl GitServer {
    /// Starts a server, or says that `what` is skipped because this machine has no Git.
    pub fn start(what: &str) -> Option<Self> {
        if Command::new("git").arg("--version").stdout(Stdio::null()).status().is_err() {
            skip(what, "git is not installed");
            return None;
        }
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port on loopback");
        let port = listener.local_addr().expect("an address").port();
        let shared = Arc::new(Shared {
            directory: tempfile::tempdir().expect("scratch directory"),
            files: Mutex::default(),
            requests: Mutex::default(),
            is_over: AtomicBool::new(false),
            port,
        });
        let server = Self { port, shared: Arc::clone(&shared) };
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if shared.is_over.load(Ordering::Relaxed) {
                    break;
                }
                let shared = Arc::clone(&shared);
                // A client that hangs up makes its thread end with an error; nobody minds.
                thread::spawn(move || shared.serve(stream));
            }
        });
        Some(server)
    }

    /// The address of a path on this server.
    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}/{path}", self.port)
    }

    /// An address with user and password.
    pub fn url_as(&self, user: &str, path: &str) -> String {
        format!("http://{user}@127.0.0.1:{}/{path}", self.port)
    }

    /// Where the server listens on loopback.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Makes a repository with an empty `main` branch.
    pub fn create_repository(&self, name: &str) -> GitRepository {
        GitRepository::create(&self.shared.directory.path().join(name))
    }

    /// Offers a file as `/files/NAME`.
    pub fn put_file(&self, name: &str, content: impl Into<Vec<u8>>) {
        locked(&self.shared.files).insert(name.to_owned(), content.into());
    }

    /// What was asked for so far: method and path, and ` with credentials` where there were some.
    pub fn requests(&self) -> Vec<String> {
        locked(&self.shared.requests).clone()
    }
}

impl Drop for GitServer {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
        // Wakes the thread that waits for connections.
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }
}

fn locked<T>(mutex: &Mutex<T>) -> parking_lot::MutexGuard<'_, T> {
    mutex.lock()
}

/// Variables by which Git itself, in a hook or a rebase that runs the tests, names the repository it works on.
const OF_A_REPOSITORY: [&str; 5] =
    ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR"];

/// How the backend is run.
#[derive(Debug, Default)]
struct Manner {
    /// Without version 2 of the protocol.
    is_old: bool,
    /// Where a pack is changed on its way, in thousandths of its length.
    damage: Option<usize>,
}

impl Shared {
    fn serve(&self, mut stream: TcpStream) -> io::Result<()> {
        let request = Request::read(&mut stream)?;
        let note = if request.header("authorization").is_some() { " with credentials" } else { "" };
        locked(&self.requests).push(format!("{} {}{note}", request.method, request.path));

        let (mode, rest) = request.path.split_once('/').unwrap_or(("", &request.path));
        let is_for_git = request.path.ends_with("/info/refs") || request.method == "POST";
        match mode {
            "files" => match locked(&self.files).get(rest) {
                Some(content) => respond(&mut stream, "200 OK", "", content),
                None => respond(&mut stream, "404 Not Found", "", b"no such file\n"),
            },
            "private" if request.header("authorization") != Some("Basic bWU6c2VjcmV0") => {
                let challenge = "WWW-Authenticate: Basic realm=\"private\"\r\n";
                respond(&mut stream, "401 Unauthorized", challenge, b"")
            }
            "token" if request.header("authorization") != Some("Bearer t0ken") => {
                let challenge = "WWW-Authenticate: Bearer realm=\"token\"\r\n";
                respond(&mut stream, "401 Unauthorized", challenge, b"")
            }
            "page" if !is_for_git => {
                let page = b"<!DOCTYPE html>\n<html><body>a: repository: {</body></html>\n";
                respond(&mut stream, "200 OK", "Content-Type: text/html\r\n", page)
            }
            "moved" => {
                let to = format!("Location: /{rest}?{}\r\n", request.query);
                respond(&mut stream, "302 Found", &to, b"")
            }
            "elsewhere" => {
                let to = format!(
                    "Location: http://localhost:{}/private/{rest}?{}\r\n",
                    self.port, request.query
                );
                respond(&mut stream, "302 Found", &to, b"")
            }
            "stalled" => {
                // Ends when the client hangs up.
                io::copy(&mut stream, &mut io::sink()).map(|_| ())
            }
            "endless" => {
                stream.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")?;
                loop {
                    stream.write_all(&[b'#'; 4096])?;
                }
            }
            "private" | "token" | "page" => {
                self.run_backend(&mut stream, &request, rest, &Manner::default())
            }
            "v0" => {
                let manner = Manner { is_old: true, ..Manner::default() };
                self.run_backend(&mut stream, &request, rest, &manner)
            }
            _ => match mode.strip_prefix("damaged-").and_then(|place| place.parse().ok()) {
                Some(place) => {
                    let manner = Manner { damage: Some(place), ..Manner::default() };
                    self.run_backend(&mut stream, &request, rest, &manner)
                }
                None => self.run_backend(&mut stream, &request, &request.path, &Manner::default()),
            },
        }
    }

    /// Runs `git http-backend` as a web server would.
    fn run_backend(
        &self,
        stream: &mut TcpStream,
        request: &Request,
        path: &str,
        manner: &Manner,
    ) -> io::Result<()> {
        let mut command = git(self.directory.path());
        command
            .arg("http-backend")
            .env("GIT_PROJECT_ROOT", self.directory.path())
            .env("GIT_HTTP_EXPORT_ALL", "1")
            .env("REQUEST_METHOD", &request.method)
            .env("PATH_INFO", format!("/{path}"))
            .env("QUERY_STRING", &request.query)
            .env("CONTENT_LENGTH", request.body.len().to_string())
            .env("CONTENT_TYPE", request.header("content-type").unwrap_or_default())
            .env("HTTP_CONTENT_ENCODING", request.header("content-encoding").unwrap_or_default())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        if let Some(protocol) = request.header("git-protocol").filter(|_| !manner.is_old) {
            command.env("GIT_PROTOCOL", protocol);
        }
        let mut child = command.spawn()?;
        let mut input = child.stdin.take().expect("a pipe");
        let body = request.body.clone();
        let writer = thread::spawn(move || input.write_all(&body));
        let mut output = Vec::new();
        child.stdout.take().expect("a pipe").read_to_end(&mut output)?;
        let _ = writer.join();
        child.wait()?;

        let end = output.windows(4).position(|part| part == b"\r\n\r\n").unwrap_or(output.len());
        let headers = String::from_utf8_lossy(&output[..end]).into_owned();
        let mut content = output.split_off((end + 4).min(output.len()));
        if let Some(place) = manner.damage
            && let Some(begin) = content.windows(4).position(|part| part == b"PACK")
        {
            let at = begin + (content.len() - begin) * place / 1000;
            content[at] ^= 0x55;
        }
        let status = headers.lines().find_map(|line| line.strip_prefix("Status: "));
        respond(stream, status.unwrap_or("200 OK"), &format!("{headers}\r\n"), &content)
    }
}

fn respond(stream: &mut TcpStream, status: &str, headers: &str, body: &[u8]) -> io::Result<()> {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {length}\r\n{headers}\r\n"
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(body)
}

/// The program, without the configuration of whoever runs the test.
fn git(directory: &Path) -> Command {
    let mut command = Command::new("git");
    command
        .current_dir(directory)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_TERMINAL_PROMPT", "0")
        // Git would tidy up in the background, while a test compares or removes the directory.
        .args(["-c", "gc.auto=0", "-c", "maintenance.auto=false"]);
    for variable in OF_A_REPOSITORY {
        command.env_remove(variable);
    }
    command
}
