//! The keys of a Kustomization that asks for decryption. None of them is used yet, but mistakes in them are told.

use flumen_api::Kustomization;
use flumen_runtime::{ReferenceError, secret};

use super::Kustomize;

/// How identities of age begin.
const AGE_IDENTITIES: [&str; 2] = ["AGE-SECRET-KEY-1", "AGE-SECRET-KEY-PQ-1"];

/// Fails unless the Secret with the keys is there and its identities are some. Keys are in no message.
pub(super) async fn check_keys(
    kustomize: &Kustomize,
    object: &Kustomization,
) -> Result<(), String> {
    let decryption = object.spec.decryption.as_ref();
    let Some(reference) = decryption.and_then(|decryption| decryption.secret_ref.as_ref()) else {
        return Ok(());
    };
    let (namespace, name) = (&object.metadata.namespace, &reference.name);
    let found = secret(&kustomize.runtime.client, namespace, name).await;
    let secret = found.map_err(|error| match error {
        missing @ ReferenceError::NotFound(..) => missing.to_string(),
        error => format!("cannot get sops decryption Secret '{namespace}/{name}': {error}"),
    })?;
    let mut identities = secret.iter().filter(|(key, _)| key.ends_with(".agekey"));
    match identities.find(|(_, text)| !are_identities(&String::from_utf8_lossy(text))) {
        None => Ok(()),
        Some((key, _)) => Err(format!(
            "failed to import '{key}' data from sops decryption Secret '{namespace}/{name}': failed to parse and \
             add to age identities: unknown identity type"
        )),
    }
}

fn are_identities(text: &str) -> bool {
    let lines =
        text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.into_iter().all(|line| AGE_IDENTITIES.iter().any(|start| line.starts_with(start)))
}

#[cfg(test)]
mod tests {
    use super::are_identities;

    #[test]
    fn identities_are_known_by_how_they_begin() {
        assert!(are_identities(
            "# created: today\n\nAGE-SECRET-KEY-1ABC\nAGE-SECRET-KEY-PQ-1ABC\n"
        ));
        assert!(!are_identities("AGE-SECRET-KEY-1ABC\nsomething else\n"));
    }
}
