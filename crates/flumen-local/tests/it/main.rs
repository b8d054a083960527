//! A cluster on one machine, through its life and with the clients of others.

#![allow(clippy::disallowed_methods, reason = "looks at the files of an instance")]

mod helm;
mod informer;
mod instance;
mod kubectl;
mod lasting;
mod recorded;
mod session;
