//! Objects that are encrypted with SOPS. Nothing here can decrypt them; they must not reach a cluster by mistake.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use flumen_object::{Object, ObjectId, ObjectSet};
use flumen_yaml::Node;
use thiserror::Error;

use super::{BuildError, DISABLED, Stage, text_at};

/// The annotation of objects that are to be applied as they are.
const DECRYPT: &str = "kustomize.toolkit.fluxcd.io/decrypt";

/// What a file that SOPS has encrypted holds, whatever its format.
const MARKERS: [&str; 4] = ["mac: ENC[", "\"mac\": \"ENC[", "sops_mac=ENC[", "[sops]"];

/// Why nothing is decrypted.
const NO_KEY: &str = "cannot get sops data key: decryption with SOPS is not supported yet";

/// A Secret whose values are still encrypted.
#[derive(Clone, Debug, Error)]
#[error(
    "{0} is SOPS encrypted, configuring decryption is required for this secret to be reconciled"
)]
pub struct EncryptedSecret(pub ObjectId);

/// Refuses Secrets that are still encrypted, wherever they keep their values.
///
/// What says so is a field that no Secret has, so this must be asked before objects are brought into the
/// form in which they are sent.
pub fn check_encryption(objects: &ObjectSet) -> Result<(), EncryptedSecret> {
    match objects.iter().find(|object| is_encrypted_secret(&object.node)) {
        Some(object) => Err(EncryptedSecret(object.id())),
        None => Ok(()),
    }
}

fn is_encrypted_secret(object: &Node) -> bool {
    is_secret(object) && object.get("sops").is_some() && !is_to_stay(object)
}

/// Refuses an object of a Kustomization that asks for decryption, if there is something to decrypt.
pub(super) fn refuse_encrypted(object: &Object) -> Result<(), BuildError> {
    let node = &object.node;
    if is_to_stay(node) {
        return Ok(());
    }
    let id = object.id();
    let what = if text_at(node, &["sops", "mac"]).is_some_and(|mac| !mac.is_empty()) {
        format!("{} data", id.gvk.kind)
    } else if let Some(field) = encrypted_field(node) {
        format!("Secret field '{field}'")
    } else {
        return Ok(());
    };
    let (gvk, namespace, name) = (&id.gvk, &id.namespace, &id.name);
    let message = format!(
        "decryption failed for '{gvk}/{name}': failed to decrypt and format '{namespace}/{name}' {what}: {NO_KEY}"
    );
    Err(BuildError::new(Stage::Decrypt, message))
}

/// The first value of a Secret that is an encrypted file.
fn encrypted_field(object: &Node) -> Option<&str> {
    let data = object.get("data").filter(|_| is_secret(object))?.as_map()?;
    let mut fields = data.iter().filter(|entry| {
        let bytes = entry.value.as_str().and_then(|text| STANDARD.decode(text).ok());
        let text = String::from_utf8_lossy(bytes.as_deref().unwrap_or_default()).into_owned();
        MARKERS.iter().any(|marker| text.contains(marker))
    });
    fields.next().map(|entry| entry.key.as_str())
}

fn is_secret(object: &Node) -> bool {
    text_at(object, &["apiVersion"]) == Some("v1") && text_at(object, &["kind"]) == Some("Secret")
}

fn is_to_stay(object: &Node) -> bool {
    let wish = text_at(object, &["metadata", "annotations", DECRYPT]);
    wish.is_some_and(|wish| wish.eq_ignore_ascii_case(DISABLED))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::objects_of;

    fn objects(text: &str) -> ObjectSet {
        objects_of(text.as_bytes(), Path::new("objects.yaml")).expect("YAML")
    }

    #[track_caller]
    fn check(object: &str, expected: Option<&str>) {
        let found = check_encryption(&objects(object)).err().map(|error| error.to_string());
        assert_eq!(found.as_deref(), expected, "{object}");
    }

    const HEAD: &str = "apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: web}\n";
    const AS_IT_IS: &str = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: s\n  annotations: \
                            {kustomize.toolkit.fluxcd.io/decrypt: Disabled}\nsops: {mac: x}\n";

    #[test]
    fn encrypted_secrets_are_refused_wherever_the_ciphertext_is() {
        let refused = Some(
            "Secret/web/s is SOPS encrypted, configuring decryption is required for this secret to be \
             reconciled",
        );
        check(&format!("{HEAD}data: {{a: 'ENC[]'}}\nsops: {{mac: x}}\n"), refused);
        check(&format!("{HEAD}stringData: {{a: 'ENC[]'}}\nsops: {{mac: x}}\n"), refused);
        check(&format!("{HEAD}data: {{a: Yg==}}\n"), None);
        check("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: s}\nsops: {mac: x}\n", None);
        check(AS_IT_IS, None);
    }

    #[test]
    fn what_asks_for_decryption_and_is_encrypted_fails_the_build() {
        let check = |text: &str, expected: Option<&str>| {
            let object = objects(text).into_iter().next().expect("an object");
            let found = refuse_encrypted(&object).err().map(|error| error.to_string());
            let expected = expected.map(|what| {
                format!(
                    "decryption failed for '{}/s': failed to decrypt and format 'web/s' {what}: {NO_KEY}",
                    object.id().gvk
                )
            });
            assert_eq!(found, expected, "{text}");
        };
        let any = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: s, namespace: web}\n";
        check(&format!("{HEAD}stringData: {{a: x}}\nsops: {{mac: x}}\n"), Some("Secret data"));
        check(&format!("{any}sops: {{mac: x}}\n"), Some("ConfigMap data"));
        let file = STANDARD.encode("a: ENC[]\nsops:\n  mac: ENC[x]\n");
        check(&format!("{HEAD}data: {{b: Yg==, f: {file}}}\n"), Some("Secret field 'f'"));
        check(&format!("{any}data: {{f: {file}}}\n"), None);
        check(any, None);
        check(AS_IT_IS, None);
    }
}
