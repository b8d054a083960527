//! The store as its users see it, in a file and in memory.

#![allow(clippy::disallowed_methods, reason = "tests look at the files of the store")]

mod crash;
mod file;
mod hostile;
mod mode;
mod properties;
mod random;
mod reads;
mod watches;
mod writes;
