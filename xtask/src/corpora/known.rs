//! Cases in which we differ on purpose.

/// Why a case is expected to fail, if it is.
pub(super) fn known(case: &str) -> Option<&'static str> {
    KNOWN.iter().find(|(cases, _)| cases.contains(&case)).map(|(_, why)| *why)
}

const KNOWN: [(&[&str], &str); 8] = [
    (
        &["objects/controller-revision"],
        "the real server compares the data of revisions by its bytes, spaces included, and so refuses any patch",
    ),
    (
        &["crd-applied-although-instance-invalid"],
        "objects of a kind that the same run defines are judged after the others, which then are applied",
    ),
    (
        &["crd-leaks-after-failure"],
        "what is about to be applied is in the inventory before, so that nothing leaks",
    ),
    (
        &[
            "reconcile-disabled-desired",
            "reconcile-disabled-upper-case",
            "reconcile-label-disabled-live-absent",
            "ssa-ignore-desired",
        ],
        "what its manifest excludes is never ours, so it is not in the inventory",
    ),
    (
        &["secret-encrypted-no-decryption"],
        "an encrypted Secret is refused wherever its ciphertext stands",
    ),
    (
        &["depends-cycle", "depends-on-itself", "depends-cycle-source-update"],
        "a cycle is reported with its way instead of waited for",
    ),
    (&["overlay-outside-artifact"], "no build looks outside its artifact"),
    (&["pull-artifact-no-output"], "`pull artifact` without `-o` prints the manifests"),
];
