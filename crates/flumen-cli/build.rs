//! Links the binary at a fixed address on Linux, and what small commands run side by side.
//!
//! A position-independent binary of this size has 85,000 pointers that the loader adjusts at every start, which
//! causes more than half of the page faults of a small build. Go's programs, kustomize and kubectl among them, are linked
//! the same way. Stack, heap and libraries stay at random addresses.

use std::env;

/// Made by `cargo xtask start-order`, which says more.
const START_ORDER: &str = "start-order.ld";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |variable: &str, value: &str| env::var(variable).is_ok_and(|found| found == value);
    if is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") {
        println!("cargo::rustc-link-arg-bins=-no-pie");
        // The unwinder: as a library of its own it would be found, mapped and bound at every start.
        println!("cargo::rustc-link-lib=static:-bundle,+verbatim=libgcc_eh.a");
        if is("CARGO_CFG_TARGET_ARCH", "x86_64") && is("PROFILE", "release") {
            println!("cargo::rerun-if-changed={START_ORDER}");
            let crate_dir = env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
            println!("cargo::rustc-link-arg-bins=-Wl,--script={crate_dir}/{START_ORDER}");
        }
    }
}
