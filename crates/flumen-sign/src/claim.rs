//! What a signature says about content, and the older of the two forms in which it says it.

use serde::{Deserialize, Serialize};

use crate::{KeyError, Refusal};

const TYPE: &str = "cosign container image signature";

/// The content that a signature is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The digest of the manifest, with its algorithm.
    pub digest: String,
    /// The repository that it was signed in, as `host/path`. Some signatures name none.
    pub repository: Option<String>,
}

/// The "simple signing" payload: a JSON document that is signed as it is.
#[derive(Serialize, Deserialize)]
struct Payload {
    critical: Critical,
    /// Free text of the signer, which cosign writes as `null` when there is none.
    #[serde(default)]
    optional: serde_json::Value,
}

#[derive(Serialize, Deserialize)]
struct Critical {
    identity: Identity,
    image: Image,
    #[serde(rename = "type")]
    kind: String,
}

#[derive(Serialize, Deserialize)]
struct Identity {
    #[serde(rename = "docker-reference", default)]
    docker_reference: String,
}

#[derive(Serialize, Deserialize)]
struct Image {
    #[serde(rename = "docker-manifest-digest")]
    digest: String,
}

impl Claim {
    /// The payload that says this.
    pub fn to_payload(&self) -> Result<Vec<u8>, KeyError> {
        let payload = Payload {
            critical: Critical {
                identity: Identity {
                    docker_reference: self.repository.clone().unwrap_or_default(),
                },
                image: Image { digest: self.digest.clone() },
                kind: TYPE.to_owned(),
            },
            optional: serde_json::Value::Null,
        };
        serde_json::to_vec(&payload).map_err(|_| KeyError::Failed)
    }

    pub(crate) fn from_payload(bytes: &[u8]) -> Result<Self, Refusal> {
        let Payload { critical, .. } =
            serde_json::from_slice(bytes).map_err(|error| Refusal::unreadable(&error))?;
        if critical.kind != TYPE {
            return Err(Refusal::unreadable(&format!("its type is `{}`", critical.kind)));
        }
        let repository = critical.identity.docker_reference;
        Ok(Self {
            digest: critical.image.digest,
            repository: Some(repository).filter(|name| !name.is_empty()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_payload_is_the_one_of_cosign() {
        let claim = Claim {
            digest: "sha256:00".to_owned(),
            repository: Some("registry.example.com/app".to_owned()),
        };
        let payload = claim.to_payload().expect("written");
        let expected = r#"{"critical":{"identity":{"docker-reference":"registry.example.com/app"},"image":{"docker-manifest-digest":"sha256:00"},"type":"cosign container image signature"},"optional":null}"#;
        assert_eq!(String::from_utf8_lossy(&payload), expected);
        assert_eq!(Claim::from_payload(&payload), Ok(claim));
    }

    #[test]
    fn a_payload_of_another_type_is_no_signature() {
        let payload = br#"{"critical":{"identity":{},"image":{"docker-manifest-digest":"x"},"type":"atomic"}}"#;
        let refusal = Claim::from_payload(payload).expect_err("refused");
        assert_eq!(refusal.to_string(), "it cannot be read: its type is `atomic`");
    }
}
