//! A cluster on one machine, through its life.

#![allow(clippy::disallowed_methods, reason = "looks at the files of an instance")]

mod instance;
