//! A replacement file against a fixed set of objects.
#![no_main]

use flumen_fuzz::build_over_objects;
use libfuzzer_sys::fuzz_target;

const KUSTOMIZATION: &str = "resources: [objects.yaml]\nreplacements: [{path: rules.yaml}]\n";

fuzz_target!(|bytes: &[u8]| build_over_objects(KUSTOMIZATION, "rules.yaml", bytes));
