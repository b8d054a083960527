//! A patch file against a fixed set of objects, with and without a target.
#![no_main]

use flumen_fuzz::build_over_objects;
use libfuzzer_sys::fuzz_target;

const OWN_TARGET: &str = "resources: [objects.yaml]\npatches: [{path: patch.yaml}]\n";
const ANY_TARGET: &str =
    "resources: [objects.yaml]\npatches: [{path: patch.yaml, target: {name: .*}}]\n";

fuzz_target!(|bytes: &[u8]| {
    build_over_objects(OWN_TARGET, "patch.yaml", bytes);
    build_over_objects(ANY_TARGET, "patch.yaml", bytes);
});
