//! A token in a file that another program renews.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use http::HeaderValue;
use parking_lot::Mutex;
use tokio::time::Instant;

use super::{bearer, unusable};
use crate::ConfigError;

/// Age at which the token is read again.
const RELOAD_INTERVAL: Duration = Duration::from_mins(1);

pub(in crate::connect) struct TokenFile {
    path: PathBuf,
    last: Mutex<(HeaderValue, Instant)>,
}

impl TokenFile {
    pub(super) fn new(path: PathBuf) -> Result<Self, ConfigError> {
        let first = read(&path)?;
        Ok(Self { path, last: Mutex::new((first, Instant::now())) })
    }

    /// Returns the last token if the file is gone or empty: some programs remove it after the start to
    /// limit exposure.
    pub(super) fn current(&self) -> HeaderValue {
        let mut last = self.last.lock();
        if last.1.elapsed() >= RELOAD_INTERVAL {
            *last = (read(&self.path).unwrap_or_else(|_| last.0.clone()), Instant::now());
        }
        last.0.clone()
    }
}

fn read(path: &Path) -> Result<HeaderValue, ConfigError> {
    let text = fs::read_to_string(path)
        .map_err(|error| unusable(format!("`{}` cannot be read: {error}", path.display())))?;
    match text.trim() {
        "" => Err(unusable(format!("there is no token in `{}`", path.display()))),
        token => bearer(token),
    }
}
