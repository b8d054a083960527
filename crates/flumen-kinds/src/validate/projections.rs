//! Volumes that show files of several sources in one place.

use std::collections::BTreeSet;

use flumen_fields::Path;
use serde_json::Value;

use super::report::Report;
use super::volumes::{downward_file, key_to_path, mode, unreserved};
use super::{selector, signers};
use crate::internal;
use crate::read::Read;

pub(super) fn check(e: &mut Report, at: &Path<'_>, source: &Value) {
    mode(e, &at.child("defaultMode"), source.int_given("defaultMode"));
    let mut paths = BTreeSet::new();
    let mut unique = |e: &mut Report, path: &str, shown: &str| {
        if !path.is_empty() && !paths.insert(path.to_owned()) {
            e.invalid(at, shown, "conflicting duplicate paths");
        }
    };
    let list = at.child("sources");
    for (n, source) in source.list("sources").iter().enumerate() {
        let source_at = list.index(n);
        let mut count = 0;
        for kind in ["secret", "configMap"] {
            let Some(inner) = source.some(kind) else { continue };
            count += 1;
            let at = source_at.child(kind);
            e.filled(&at.child("name"), inner.text("name"));
            let items = at.child("items");
            for (n, item) in inner.list("items").iter().enumerate() {
                key_to_path(e, &items.index(n), item);
                unique(e, item.text("path"), inner.text("name"));
            }
        }
        if let Some(inner) = source.some("downwardAPI") {
            count += 1;
            for file in inner.list("items") {
                downward_file(e, &source_at.child("downwardAPI"), file);
                unique(e, file.text("path"), file.text("path"));
            }
        }
        if let Some(token) = source.some("serviceAccountToken") {
            count += 1;
            let seconds = token.int("expirationSeconds");
            let token_at = source_at.child("serviceAccountToken");
            let seconds_at = token_at.child("expirationSeconds");
            if seconds < 600 {
                e.invalid(&seconds_at, seconds, "may not specify a duration less than 10 minutes");
            }
            if seconds > 1 << 32 {
                let detail = "may not specify a duration larger than 2^32 seconds";
                e.invalid(&seconds_at, seconds, detail);
            }
            if token.text("path").is_empty() {
                e.required(&at.child("path"), "");
            } else {
                unreserved(e, &at.child("path"), token.text("path"));
            }
        }
        if let Some(bundle) = source.some("clusterTrustBundle") {
            count += 1;
            trust_bundle(e, &source_at.child("clusterTrustBundle"), bundle);
            unique(e, bundle.text("path"), bundle.text("path"));
        }
        if count > 1 {
            e.forbidden(&source_at, "may not specify more than 1 volume type per source");
        }
    }
}

fn trust_bundle(e: &mut Report, at: &Path<'_>, bundle: &Value) {
    match (bundle.text_given("name"), bundle.text_given("signerName")) {
        (Some(_), Some(_)) => {
            let shown = internal::shown("core.ClusterTrustBundleProjection", bundle);
            e.invalid(at, shown, "only one of name and signerName may be used");
        }
        (Some(name), None) => {
            if name.is_empty() {
                e.required(&at.child("name"), "must be a valid object name");
            }
            for message in signers::bundle_name(name) {
                let detail = format!("not a valid clustertrustbundlename: {message}");
                e.invalid(&at.child("name"), name, detail);
            }
            if let Some(labels) = bundle.some("labelSelector") {
                let detail = "labelSelector must be unset if name is specified";
                e.invalid(&at.child("labelSelector"), selector::shown(labels), detail);
            }
        }
        (None, Some(signer)) => {
            if signer.is_empty() {
                e.required(&at.child("signerName"), "must be a valid signer name");
            }
            signers::name(e, &at.child("signerName"), signer);
            selector::check(e, &at.child("labelSelector"), bundle.part("labelSelector"));
        }
        (None, None) => e.required(at, "either name or signerName must be specified"),
    }
    e.filled(&at.child("path"), bundle.text("path"));
    unreserved(e, &at.child("path"), bundle.text("path"));
}
