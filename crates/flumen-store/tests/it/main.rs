//! The store as its users see it, in a file and in memory.

#![allow(clippy::disallowed_methods, reason = "tests look at the files of the store")]

mod file;
mod mode;
mod reads;
mod writes;
