//! Everything that this crate does to whole objects, judged by recorded cases.
#![allow(clippy::disallowed_methods, reason = "tests read recorded data")]

mod normalize;
