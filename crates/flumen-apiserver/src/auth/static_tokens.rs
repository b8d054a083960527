//! Tokens from a file: `token,user,uid,"group1,group2"`.

use std::{collections::HashMap, fmt};

use sha2::{Digest as _, Sha256};
use thiserror::Error;

use crate::User;

/// Why a file of tokens cannot be used. Says nothing of what the line holds.
#[derive(Debug, Error)]
#[error("line {line} of the token file needs a token, a user and a uid")]
pub struct TokenFileError {
    line: usize,
}

/// Users by the digest of their token, so that a lookup tells nothing by the time it takes.
#[derive(Clone, Default)]
pub struct StaticTokens(HashMap<[u8; 32], User>);

impl fmt::Debug for StaticTokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StaticTokens({})", self.0.len())
    }
}

impl StaticTokens {
    /// Reads a file. Empty lines and comments are passed over.
    pub fn parse(text: &str) -> Result<Self, TokenFileError> {
        let mut tokens = Self::default();
        for (number, line) in text.lines().enumerate() {
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            let cells = cells(line);
            let [token, name, uid, rest @ ..] = cells.as_slice() else {
                return Err(TokenFileError { line: number + 1 });
            };
            if token.is_empty() {
                return Err(TokenFileError { line: number + 1 });
            }
            let groups = rest.first().map(String::as_str).unwrap_or_default();
            let groups = groups.split(',').map(str::trim).filter(|group| !group.is_empty());
            let user = User {
                name: name.clone(),
                uid: uid.clone(),
                groups: groups.map(str::to_owned).collect(),
                ..User::default()
            };
            tokens.add(token, user);
        }
        Ok(tokens)
    }

    pub fn add(&mut self, token: &str, user: User) {
        self.0.insert(digest(token), user);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn user(&self, token: &str) -> Option<&User> {
        self.0.get(&digest(token))
    }
}

fn digest(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}

/// The cells of a line of CSV.
fn cells(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut quoted = false;
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        let Some(cell) = cells.last_mut() else { break };
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                cell.push('"');
                chars.next();
            }
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(String::new()),
            c => cell.push(c),
        }
    }
    cells.iter().map(|cell| cell.trim().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_users_with_groups() {
        let text = "# people\nt0ken,admin,admin-uid,\"system:masters,ops\"\n\nother,jane,u1\n";
        let tokens = StaticTokens::parse(text).expect("it works");
        let admin = tokens.user("t0ken").expect("it works");
        assert_eq!((admin.name.as_str(), admin.uid.as_str()), ("admin", "admin-uid"));
        assert_eq!(admin.groups, ["system:masters", "ops"]);
        assert!(tokens.user("other").expect("it works").groups.is_empty());
        assert!(tokens.user("t0ke").is_none());
    }

    #[test]
    fn a_bad_line_is_named_but_not_quoted() {
        let error = StaticTokens::parse("good,a,b\nsecret\n").expect_err("it is refused");
        assert_eq!(error.to_string(), "line 2 of the token file needs a token, a user and a uid");
    }
}
