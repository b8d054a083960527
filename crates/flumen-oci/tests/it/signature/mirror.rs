//! Copies keep their signatures.

use flumen_oci::{
    Target,
    copy::{CopyOptions, copy},
    signature::{self, Placement, SignOptions},
};

use super::places::{Embedded, layout, new_key, push, signed_with};

#[tokio::test]
async fn acceptance_13_a_signature_verifies_at_the_destination() {
    let origin = Embedded::start().await;
    let install = Embedded::start().await;
    let directory = tempfile::tempdir().expect("a directory");
    let from = origin.repository("org/app");
    let on_disk = layout(&directory);
    let key = new_key();
    for placement in [Placement::Referrer, Placement::Tag] {
        let descriptor = push(&from, &format!("{placement:?}")).await;
        let options = SignOptions { placement, signed_as: None };
        signature::sign(&from, &descriptor, &key, &options).await.expect("signed");
        let same_path = install.repository("org/app");
        let other_path = install.repository("installs/one/app");
        for to in [&same_path, &other_path, &on_disk] {
            let target = Target::Digest(descriptor.digest.clone());
            copy(&from, &target, to, Some("v1"), &CopyOptions::default()).await.expect("copied");
        }
        let mut policy = signed_with(&key);
        for to in [&same_path, &on_disk] {
            let verified = signature::verify(to, &descriptor, &policy).await;
            verified.expect("verified");
        }
        let refused = signature::verify(&other_path, &descriptor, &policy).await;
        refused.expect_err("another repository");
        policy.signed_as = Some(format!("{}/org/app", origin.host()));
        let verified = signature::verify(&other_path, &descriptor, &policy).await;
        verified.expect("verified");
    }
}
