//! How often the server was asked, and what it answered.

use std::collections::BTreeMap;

use http::Method;
use parking_lot::Mutex;

/// Requests that are alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Asked {
    pub method: &'static str,
    /// The status of the answer; `None` when there was none.
    pub code: Option<u16>,
}

#[derive(Debug, Default)]
pub(crate) struct Account(Mutex<BTreeMap<Asked, u64>>);

impl Account {
    pub(crate) fn note(&self, method: &Method, code: Option<u16>) {
        let known = ["GET", "PATCH", "POST", "PUT", "DELETE"];
        let method = known.into_iter().find(|known| method.as_str() == *known);
        let asked = Asked { method: method.unwrap_or("OTHER"), code };
        *self.0.lock().entry(asked).or_default() += 1;
    }

    pub(crate) fn read(&self) -> BTreeMap<Asked, u64> {
        self.0.lock().clone()
    }
}
