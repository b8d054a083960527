//! Who may use the registry: users with passwords, and tokens.
//!
//! Passwords come from a file as `htpasswd -B` writes it. Checking one is slow on purpose, so those
//! that were right are remembered, as keyed hashes, for as long as the process lives; and only a
//! few are checked at a time, so that guessing cannot take the whole machine.

use std::{
    collections::{BTreeMap, HashSet},
    fmt, fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use aws_lc_rs::{constant_time, digest, hmac, rand::SystemRandom};
use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use parking_lot::Mutex;
use tokio::sync::Semaphore;

use crate::{Error, Result};

/// Passwords that are checked at the same time.
const CHECKS: usize = 2;
/// Right credentials that are remembered. More than this many users are checked each time.
const REMEMBERED: usize = 1024;
/// Checked for names that do not exist, so that they take as long as those that do.
const NOBODY: &str = "$2b$10$abcdefghijklmnopqrstuuv2PaxZO.gRiMKu8gyyycqlaX6nT7pjC";

/// Users and tokens.
#[derive(Clone)]
pub struct Accounts {
    users: BTreeMap<String, String>,
    /// Hashes, so that comparing takes the same time for every token.
    tokens: Vec<Vec<u8>>,
    /// Whether reading needs no credentials.
    pub anonymous_read: bool,
    memory: Arc<Memory>,
}

struct Memory {
    key: hmac::Key,
    right: Mutex<HashSet<Vec<u8>>>,
    checks: Semaphore,
}

/// What a request says about who sent it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Identity {
    Known,
    /// It says nothing.
    Anonymous,
    /// What it says is not true.
    Wrong,
}

impl Accounts {
    /// Reads users from a file of `name:hash` lines, tokens from a file with one on each line.
    pub fn read(users: Option<&Path>, tokens: Option<&Path>) -> Result<Self> {
        let mut accounts = Self {
            users: BTreeMap::new(),
            tokens: Vec::new(),
            anonymous_read: false,
            memory: Arc::new(Memory::new()?),
        };
        if let Some(path) = users {
            for (number, line) in lines(path)? {
                let wrong = |what| Error::Accounts { path: path.to_owned(), line: number, what };
                let (name, hash) =
                    line.split_once(':').ok_or_else(|| wrong("expected `name:hash`"))?;
                let is_bcrypt =
                    ["$2a$", "$2b$", "$2y$"].iter().any(|start| hash.starts_with(start));
                if !is_bcrypt || hash.parse::<bcrypt::HashParts>().is_err() {
                    return Err(wrong("the password is not hashed with bcrypt"));
                }
                if accounts.users.insert(name.to_owned(), hash.to_owned()).is_some() {
                    return Err(wrong("the user is there twice"));
                }
            }
        }
        if let Some(path) = tokens {
            accounts.tokens.extend(lines(path)?.iter().map(|(_, token)| hash(token)));
        }
        if accounts.users.is_empty() && accounts.tokens.is_empty() {
            return Err(Error::NoAccounts);
        }
        Ok(accounts)
    }

    /// How clients are asked for credentials.
    pub(crate) fn challenge(&self) -> &'static str {
        if self.users.is_empty() {
            "Bearer realm=\"registry\",service=\"registry\""
        } else {
            "Basic realm=\"registry\""
        }
    }

    /// Judges an `Authorization` header.
    pub(crate) async fn identify(&self, header: Option<&str>) -> Identity {
        let Some(header) = header else { return Identity::Anonymous };
        let (scheme, value) = header.split_once(' ').unwrap_or((header, ""));
        let is_right = if scheme.eq_ignore_ascii_case("bearer") {
            self.knows_token(value.trim())
        } else if scheme.eq_ignore_ascii_case("basic") {
            self.knows_user(value.trim()).await
        } else {
            false
        };
        if is_right { Identity::Known } else { Identity::Wrong }
    }

    fn knows_token(&self, token: &str) -> bool {
        let hash = hash(token);
        // All are compared, whichever it is.
        let equal = |known: &&Vec<u8>| constant_time::verify_slices_are_equal(known, &hash).is_ok();
        self.tokens.iter().filter(equal).count() > 0
    }

    async fn knows_user(&self, encoded: &str) -> bool {
        let decoded = BASE64.decode(encoded).ok().and_then(|bytes| String::from_utf8(bytes).ok());
        let Some((name, password)) = decoded.as_deref().and_then(|text| text.split_once(':'))
        else {
            return false;
        };
        let tag = hmac::sign(&self.memory.key, encoded.as_bytes()).as_ref().to_vec();
        if self.memory.right().contains(&tag) {
            return true;
        }
        let Ok(_permit) = self.memory.checks.acquire().await else { return false };
        let user = self.users.get(name).cloned();
        let password = password.to_owned();
        let check = tokio::task::spawn_blocking(move || {
            let matches = bcrypt::verify(password, user.as_deref().unwrap_or(NOBODY));
            user.is_some() && matches.unwrap_or(false)
        });
        let is_right = check.await.unwrap_or(false);
        if is_right {
            let mut right = self.memory.right();
            if right.len() < REMEMBERED {
                right.insert(tag);
            }
        }
        is_right
    }
}

impl Memory {
    fn new() -> Result<Self> {
        let key = hmac::Key::generate(hmac::HMAC_SHA256, &SystemRandom::new())
            .map_err(|_| Error::NoRandomness)?;
        Ok(Self { key, right: Mutex::default(), checks: Semaphore::new(CHECKS) })
    }

    fn right(&self) -> parking_lot::MutexGuard<'_, HashSet<Vec<u8>>> {
        self.right.lock()
    }
}

impl fmt::Debug for Accounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Accounts({} users, {} tokens)", self.users.len(), self.tokens.len())
    }
}

fn hash(token: &str) -> Vec<u8> {
    digest::digest(&digest::SHA256, token.as_bytes()).as_ref().to_vec()
}

/// Lines that say something, with their numbers.
fn lines(path: &Path) -> Result<Vec<(usize, String)>> {
    let text = fs::read_to_string(path).map_err(|source| Error::Storage {
        action: "read",
        path: PathBuf::from(path),
        source,
    })?;
    let lines = text.lines().map(|line| line.trim().to_owned());
    let numbered = (1..).zip(lines).filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    Ok(numbered.collect())
}
