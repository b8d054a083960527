//! Objects of a Helm release, from Helm's storage.

use std::io::Read as _;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use flate2::read::GzDecoder;
use flumen_kube::{Cluster as _, ListOptions, ObjectName};
use flumen_object::Gvk;
use flumen_yaml::{Budget, Node, Text};
use serde::Deserialize;

use super::{GroupKind, Identity};
use crate::{
    Error, Site,
    object::{name_of, namespace_of, text_at},
};

/// A release is stored in a Secret, which holds at most a megabyte. Compressed text can be much more.
const MAX_RELEASE_BYTES: u64 = 64 << 20;
const GZIP: [u8; 3] = [0x1f, 0x8b, 0x08];

const CRD: (&str, &str) = ("apiextensions.k8s.io", "CustomResourceDefinition");
const OWNER: &str = "helm.toolkit.fluxcd.io";

/// The part of a stored release that is read.
#[derive(Deserialize)]
struct Release {
    #[serde(default)]
    manifest: String,
}

/// Returns the objects of a `HelmRelease`; none if it is not installed, or on another cluster.
pub(super) async fn objects(site: &Site, release: &Node) -> Result<Vec<Identity>, Error> {
    let history = release.at(&["status", "history"]).and_then(Node::as_seq);
    let latest = history.and_then(|history| history.first());
    let storage = text_at(release, &["status", "storageNamespace"]);
    let Some(latest) = latest.filter(|_| !storage.is_empty()) else { return Ok(Vec::new()) };
    if release.at(&["spec", "kubeConfig"]).is_some() {
        return Ok(Vec::new());
    }
    let name = format!(
        "sh.helm.release.v1.{}.v{}",
        text_at(latest, &["name"]),
        text_at(latest, &["version"])
    );
    let resource = site.core_resource("Secret").await?;
    let object = ObjectName { resource: &resource, namespace: storage, name: &name };
    let Some(secret) = site.client().get(object).await? else { return Ok(Vec::new()) };
    let manifest =
        decode(text_at(&secret, &["data", "release"])).ok_or_else(|| Error::HelmStorage {
            namespace: namespace_of(release).to_owned(),
            name: name_of(release).to_owned(),
        })?;
    let mut objects = identities(site, &manifest, text_at(latest, &["namespace"])).await?;
    if applies_crds(release) {
        for crd in crds(site, release).await {
            if !objects.contains(&crd) {
                objects.push(crd);
            }
        }
    }
    Ok(objects)
}

/// Decodes the manifest of a stored release, which is base64 twice, and compressed since Helm 2.
fn decode(data: &str) -> Option<String> {
    let inner = STANDARD.decode(data).ok()?;
    let mut bytes = STANDARD.decode(inner).ok()?;
    if bytes.starts_with(&GZIP) {
        let mut plain = Vec::new();
        let mut reader = GzDecoder::new(bytes.as_slice()).take(MAX_RELEASE_BYTES + 1);
        reader.read_to_end(&mut plain).ok()?;
        bytes = plain;
    }
    if bytes.len() as u64 > MAX_RELEASE_BYTES {
        return None;
    }
    Some(serde_json::from_slice::<Release>(&bytes).ok()?.manifest)
}

async fn identities(site: &Site, manifest: &str, namespace: &str) -> Result<Vec<Identity>, Error> {
    let documents = flumen_yaml::read(&Text::from(manifest), 1, &Budget::default())
        .map_err(Error::HelmManifest)?;
    let mut identities = Vec::new();
    for document in documents.iter().filter(|document| document.is_map()) {
        let gvk = Gvk::of(document);
        let mut own = namespace_of(document);
        if own.is_empty() {
            let resource = site.client().resource(&gvk).await?;
            if resource.is_some_and(|resource| resource.namespaced) {
                own = namespace;
            }
        }
        identities.push(Identity {
            namespace: own.to_owned(),
            name: name_of(document).to_owned(),
            group_kind: GroupKind { group: gvk.group.to_string(), kind: gvk.kind.to_string() },
        });
    }
    Ok(identities)
}

fn applies_crds(release: &Node) -> bool {
    ["install", "upgrade"].into_iter().any(|action| {
        let policy = text_at(release, &["spec", action, "crds"]);
        !policy.is_empty() && policy != "Skip"
    })
}

/// CRDs of a chart are not in its manifest; those of this release have its labels.
async fn crds(site: &Site, release: &Node) -> Vec<Identity> {
    let (group, kind) = CRD;
    let labels =
        format!("{OWNER}/name={},{OWNER}/namespace={}", name_of(release), namespace_of(release));
    let options = ListOptions { label_selector: Some(&labels), ..ListOptions::default() };
    let found = async {
        let resource = site.client().preferred_resource(group, kind).await.ok()??;
        site.list(&resource, options).await.ok()
    };
    let objects = found.await.unwrap_or_default();
    let identity = |object: &Node| Identity {
        namespace: String::new(),
        name: name_of(object).to_owned(),
        group_kind: GroupKind { group: group.to_owned(), kind: kind.to_owned() },
    };
    objects.iter().map(identity).collect()
}
