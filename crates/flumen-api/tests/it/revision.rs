//! Revisions and their former forms.

use flumen_api::{Revision, modern_revision};

use crate::corpus::cases;

const SHA1: &str = "5394cb7f48332b2de7c17dd8b8384bbc84b7e738";
const SHA256: &str = "d52bde83c5b2bd0fa7910264e0afc3ac9cfe9b6636ca29c05c09742f01d5a4bd";

#[test]
fn revisions_of_git_are_those_of_the_reference() {
    for case in cases("revision.jsonl") {
        let revision = Revision::new(case["input"]["revision"].as_str().expect("a revision"));
        let expect = &case["expect"];
        assert_eq!(revision.name, expect["name"], "{}", case["id"]);
        assert_eq!(revision.hash, expect["hash"], "{}", case["id"]);
        assert_eq!(revision.digest(), expect["digest"], "{}", case["id"]);
        assert_eq!(revision.to_string(), expect["transformed"], "{}", case["id"]);
    }
}

#[test]
fn a_revision_of_git_has_a_name_and_a_hash() {
    let check = |text: &str, name: &str, present: &str| {
        let revision = Revision::new(text);
        assert_eq!((revision.name, revision.hash), (name, SHA1), "{text}");
        assert_eq!(revision.to_string(), present, "{text}");
    };
    let present = format!("feature/x@sha1:{SHA1}");
    check(&present, "feature/x", &present);
    check(&format!("feature/x/{SHA1}"), "feature/x", &present);
    check(&format!("HEAD/{SHA1}"), "", &format!("sha1:{SHA1}"));
    check(SHA1, "", &format!("sha1:{SHA1}"));
}

#[test]
fn former_forms_are_compared_in_the_present_one() {
    let check = |former: &str, present: &str| assert_eq!(modern_revision(former), present);
    check(&format!("main/{SHA1}"), &format!("main@sha1:{SHA1}"));
    check(&format!("feature/x/{SHA1}"), &format!("feature/x@sha1:{SHA1}"));
    check(&format!("HEAD/{SHA1}"), &format!("sha1:{SHA1}"));
    check(&format!("1.0.0/{SHA256}"), &format!("1.0.0@sha256:{SHA256}"));
    check(SHA256, &format!("sha256:{SHA256}"));
    for present in [format!("main@sha1:{SHA1}"), format!("sha256:{SHA256}")] {
        check(&present, &present);
    }
    for neither in ["", "main", "main/short", "1.2.3"] {
        check(neither, neither);
    }
}
