//! Manifests: resolving, reading, writing and deleting them.

use reqwest::{
    Method, StatusCode,
    header::{ACCEPT, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderValue},
};
use serde::Deserialize;

use super::{RemoteRepository, answer::Answer, auth::Scope, transport::Call};
use crate::{
    Descriptor, Digest, Error, Hasher, RawManifest, Result, Target, media_type, reference,
};

/// Registries have to take manifests of this size and may refuse larger ones.
const MAX_MANIFEST: usize = 4 << 20;
const CONTENT_DIGEST: &str = "docker-content-digest";
/// Answered when the registry keeps the list of referrers itself.
const SUBJECT: &str = "oci-subject";

impl RemoteRepository {
    pub(crate) async fn resolve(&self, target: &Target) -> Result<Descriptor> {
        let call = self.manifest_call(Method::HEAD, target, "pull").await?;
        let answer = self.transport().fetch(&call, 0).await?;
        if answer.status == StatusCode::OK
            && let Some(descriptor) = described(&answer)
        {
            return match target {
                Target::Digest(expected) if *expected != descriptor.digest => {
                    Err(Error::DigestMismatch { expected: expected.clone() })
                }
                _ => Ok(descriptor),
            };
        }
        // An answer to HEAD has no words, and some registries leave out what is needed here.
        let can_say_more = answer.status.is_success()
            || matches!(answer.status, StatusCode::METHOD_NOT_ALLOWED | StatusCode::FORBIDDEN);
        if can_say_more {
            return Ok(self.manifest(target).await?.descriptor);
        }
        Err(answer.failure(&call.what))
    }

    pub(crate) async fn manifest(&self, target: &Target) -> Result<RawManifest> {
        let call = self.manifest_call(Method::GET, target, "pull").await?;
        let answer = self.transport().fetch(&call, MAX_MANIFEST).await?;
        let answer = answer.expect(&[StatusCode::OK], &call.what)?;
        if answer.is_web_page() {
            return Err(Error::NotARegistry {
                host: self.registry.host().to_owned(),
                reason: "a web page instead of a manifest".to_owned(),
            });
        }
        let digest = checked_digest(target, &answer)?;
        let media_type = media_type(&answer, &digest)?;
        let descriptor = Descriptor::new(&media_type, digest, answer.body.len() as u64);
        Ok(RawManifest { descriptor, bytes: answer.body })
    }

    pub(crate) async fn put_manifest(
        &self,
        manifest: &RawManifest,
        tag: Option<&str>,
    ) -> Result<()> {
        let target = match tag {
            Some(tag) => Target::Tag(tag.to_owned()),
            None => Target::Digest(manifest.digest().clone()),
        };
        let mut call = self.manifest_call(Method::PUT, &target, "pull,push").await?;
        let media_type = HeaderValue::from_str(&manifest.descriptor.media_type).map_err(|_| {
            Error::InvalidManifest {
                digest: manifest.digest().clone(),
                reason: "its media type has invalid characters".to_owned(),
            }
        })?;
        call.headers.insert(CONTENT_TYPE, media_type);
        call.body = manifest.bytes.clone();
        let answer = self.transport().fetch(&call, MAX_MANIFEST).await?;
        let answer = answer
            .expect(&[StatusCode::CREATED, StatusCode::OK, StatusCode::ACCEPTED], &call.what)?;
        if let Some(stored) = answer.header(CONTENT_DIGEST)
            && stored.parse::<Digest>().ok().as_ref() != Some(manifest.digest())
        {
            return Err(Error::DigestMismatch { expected: manifest.digest().clone() });
        }
        if answer.header(SUBJECT).is_none() {
            self.list_referrer(manifest).await?;
        }
        Ok(())
    }

    pub(crate) async fn delete(&self, target: &Target) -> Result<()> {
        let call = self.manifest_call(Method::DELETE, target, "pull,push,delete").await?;
        let answer = self.transport().fetch(&call, MAX_MANIFEST).await?;
        let is_unsupported = match answer.status {
            StatusCode::METHOD_NOT_ALLOWED | StatusCode::NOT_IMPLEMENTED => true,
            // Registries that only delete by digest take the tag for a broken one. Deleting what the tag
            // names instead would take all its other tags away too.
            StatusCode::BAD_REQUEST => {
                matches!(target, Target::Tag(_)) || answer.has_code("UNSUPPORTED")
            }
            _ => false,
        };
        if is_unsupported {
            return Err(Error::DeletionUnsupported {
                host: self.registry.host().to_owned(),
                what: call.what,
                message: answer.message(),
            });
        }
        let done = [StatusCode::ACCEPTED, StatusCode::OK, StatusCode::NO_CONTENT];
        answer.expect(&done, &call.what).map(drop)
    }

    async fn manifest_call(&self, method: Method, target: &Target, actions: &str) -> Result<Call> {
        if let Target::Tag(tag) = target
            && !reference::is_tag(tag)
        {
            let text = format!("{}:{tag}", self.reference());
            return Err(Error::InvalidReference { text });
        }
        let url = self.url(&format!("manifests/{target}")).await?;
        let scope = Scope::new(&self.path, actions);
        let mut call = Call::new(method, url, scope, self.manifest_name(target));
        if matches!(call.method, Method::GET | Method::HEAD) {
            let kinds = [media_type::MANIFESTS, media_type::INDEXES].concat().join(", ");
            call.headers.extend(HeaderValue::from_str(&kinds).map(|value| (ACCEPT, value)));
        }
        Ok(call)
    }
}

/// The digest of what arrived, which is what was asked for and what the registry says that it is.
fn checked_digest(target: &Target, answer: &Answer) -> Result<Digest> {
    let announced = answer.header(CONTENT_DIGEST).and_then(|text| text.parse::<Digest>().ok());
    let expected = match target {
        Target::Digest(digest) => Some(digest),
        Target::Tag(_) => announced.as_ref(),
    };
    let Some(expected) = expected else { return Ok(Digest::of(&answer.body)) };
    let mut hasher = Hasher::new(expected.algorithm());
    hasher.update(&answer.body);
    let actual = hasher.finish();
    if actual == *expected {
        Ok(actual)
    } else {
        Err(Error::DigestMismatch { expected: expected.clone() })
    }
}

/// What the headers of an answer say about a manifest, if they say everything.
fn described(answer: &Answer) -> Option<Descriptor> {
    let digest = answer.header(CONTENT_DIGEST)?.parse().ok()?;
    let size = answer.header(CONTENT_LENGTH.as_str())?.parse().ok()?;
    let media_type = essence(&answer.headers)?;
    Some(Descriptor::new(media_type, digest, size))
}

/// The media type in the headers, without parameters, if it is one of a manifest.
fn essence(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(CONTENT_TYPE)?.to_str().ok()?;
    let essence = value.split(';').next()?.trim();
    is_known(essence).then_some(essence)
}

fn is_known(media_type: &str) -> bool {
    media_type::MANIFESTS.contains(&media_type) || media_type::INDEXES.contains(&media_type)
}

/// The kind of manifest, on which header and content have to agree: a document that is an image to
/// one reader and an index to the next is how signatures are fooled.
fn media_type(answer: &Answer, digest: &Digest) -> Result<String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Kind {
        media_type: Option<String>,
    }
    let invalid = |reason: String| Error::InvalidManifest { digest: digest.clone(), reason };
    let kind: Kind = serde_json::from_slice(&answer.body).map_err(|e| invalid(e.to_string()))?;
    match (essence(&answer.headers), kind.media_type) {
        (Some(header), Some(inside)) if header != inside => Err(invalid(format!(
            "the registry calls it `{header}` and it says `{inside}`: media type mismatch"
        ))),
        (Some(header), _) => Ok(header.to_owned()),
        (None, Some(inside)) => Ok(inside),
        (None, None) => {
            let header = answer.header(CONTENT_TYPE.as_str()).unwrap_or_default();
            Err(invalid(format!("its media type `{header}` is not one of a manifest")))
        }
    }
}
