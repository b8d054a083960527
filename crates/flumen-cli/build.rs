//! Links the binary at a fixed address on Linux.
//!
//! A position-independent binary of this size has 85,000 pointers that the loader adjusts at every start, which
//! causes more than half of the page faults of a small build. Go's programs, kustomize and kubectl among them, are linked
//! the same way. Stack, heap and libraries stay at random addresses.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |variable: &str, value: &str| env::var(variable).is_ok_and(|found| found == value);
    if is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
