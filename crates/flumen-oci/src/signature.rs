//! Who vouches for an artifact.
//!
//! A signature is kept beside what it signs, in one of two places: below a tag that is made of the
//! digest (`sha256-<hex>.sig`), where all signatures share one manifest, or as a manifest of its own
//! whose subject is the artifact. cosign reads and writes both. [`sign()`] stores, [`verify`] finds.
//!
//! # What a signature is bound to
//!
//! To a digest, always: a signature that names another one is refused. And to a repository, if it
//! names one: otherwise whoever may write to one repository could put there what the same key signed
//! for another. Mirrors are the reason why this cannot be plain equality. A name `host/path` in a
//! signature fits
//!
//! - a repository with the same path, on any host;
//! - a repository whose path ends with all of `host/path`, as pull-through caches name theirs;
//! - the repository that the caller says the artifact was signed as, in [`Policy::signed_as`], and
//!   then no other.
//!
//! Bundles of cosign name no repository, and a layout on disk is none; there the digest alone decides.

mod candidates;
mod origin;
mod store;

use flumen_sign::{Attested, Claim, PrivateKey, Refusal, Signature, Signer, Trust};

use self::candidates::{Candidate, Candidates};
use crate::{Descriptor, Digest, Error, Repository, Result};

/// What makes an artifact acceptable.
#[derive(Debug, Default)]
pub struct Policy {
    /// Whose signatures count. One that does is enough.
    pub trust: Trust,
    /// The repository that the artifact was signed in, as `host/path`, where it is not the one that it
    /// is read from.
    pub signed_as: Option<String>,
}

/// An artifact that somebody who is trusted has signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    pub digest: Digest,
    pub signer: Signer,
    /// The repository that the signature names.
    pub signed_as: Option<String>,
}

/// Where signatures are put.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Placement {
    /// A bundle that refers to the artifact, which is what cosign 3 writes.
    #[default]
    Referrer,
    /// The tag that older tools look for.
    Tag,
    Both,
}

#[derive(Clone, Debug, Default)]
pub struct SignOptions {
    pub placement: Placement,
    /// The repository that the signature names, as `host/path`; the default is where it is put.
    pub signed_as: Option<String>,
}

/// What signing has done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signed {
    Added,
    /// The same signature was there already, with the same key.
    Already,
}

/// Signs the manifest that `descriptor` names, which must be in the repository.
///
/// Other signatures stay. Two who write the same tag at the same moment can lose one of the two, for
/// registries have no way to compare before they write; referrers have no such moment.
pub async fn sign(
    repository: &Repository,
    descriptor: &Descriptor,
    key: &PrivateKey,
    options: &SignOptions,
) -> Result<Signed> {
    let claim = Claim {
        digest: descriptor.digest.to_string(),
        repository: options.signed_as.clone().or_else(|| origin::name_of(repository)),
    };
    let mut signed = Signed::Already;
    if options.placement != Placement::Tag
        && !is_signed(repository, Candidates::referring(repository, descriptor).await?, key, &claim)
            .await?
    {
        let bundle = key.sign_bundle(&claim).map_err(Error::Sign)?;
        store::put_referrer(repository, descriptor, &bundle).await?;
        signed = Signed::Added;
    }
    if options.placement != Placement::Referrer
        && !is_signed(repository, Candidates::tagged(repository, descriptor).await?, key, &claim)
            .await?
    {
        let (payload, signature) = key.sign_payload(&claim).map_err(Error::Sign)?;
        store::put_tag(repository, descriptor, payload, signature).await?;
        signed = Signed::Added;
    }
    Ok(signed)
}

/// Whether this key has already made this claim.
async fn is_signed(
    repository: &Repository,
    candidates: Candidates,
    key: &PrivateKey,
    claim: &Claim,
) -> Result<bool> {
    let trust = Trust { keys: vec![key.public_key().clone()], ..Trust::default() };
    for candidate in candidates.list {
        let attested = authenticate(repository, &candidate, &trust).await?;
        if attested.is_ok_and(|attested| attested.claim == *claim) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Looks for a signature of the manifest that `descriptor` names, and says whose it is.
///
/// Nothing is read but signatures: neither the manifest nor what it names.
pub async fn verify(
    repository: &Repository,
    descriptor: &Descriptor,
    policy: &Policy,
) -> Result<Verified> {
    let digest = &descriptor.digest;
    let mut candidates = Candidates::referring(repository, descriptor).await?;
    candidates.append(Candidates::tagged(repository, descriptor).await?);
    let mut nearest: Option<Objection> = None;
    for candidate in &candidates.list {
        let objection = match authenticate(repository, candidate, &policy.trust).await? {
            Ok(attested) => match object(repository, digest, &attested.claim, policy) {
                None => {
                    return Ok(Verified {
                        digest: digest.clone(),
                        signer: attested.signer,
                        signed_as: attested.claim.repository,
                    });
                }
                Some(objection) => objection,
            },
            Err(refusal) => Objection::Refused(refusal),
        };
        if nearest.as_ref().is_none_or(|nearest| nearest.rank() < objection.rank()) {
            nearest = Some(objection);
        }
    }
    match nearest {
        _ if candidates.truncated => Err(Error::TooManySignatures { digest: digest.clone() }),
        None => Err(Error::NoSignature { digest: digest.clone() }),
        Some(objection) => Err(objection.into_error(digest)),
    }
}

async fn authenticate(
    repository: &Repository,
    candidate: &Candidate,
    trust: &Trust,
) -> Result<Result<Attested, Refusal>> {
    let signature = candidate.fetch(repository).await?;
    Ok(signature.and_then(|signature: Signature| signature.authenticate(trust)))
}

/// What is wrong with the claim of a signature that is genuine.
fn object(
    repository: &Repository,
    digest: &Digest,
    claim: &Claim,
    policy: &Policy,
) -> Option<Objection> {
    if claim.digest != digest.to_string() {
        return Some(Objection::OtherDigest { signed: claim.digest.clone() });
    }
    let signed_as = claim.repository.as_deref()?;
    let expected = origin::Expected::of(repository, policy.signed_as.as_deref())?;
    (!expected.fits(signed_as)).then(|| Objection::OtherRepository {
        signed_as: signed_as.to_owned(),
        repository: expected.to_string(),
    })
}

/// Why one signature does not do.
enum Objection {
    OtherRepository { signed_as: String, repository: String },
    OtherDigest { signed: String },
    Refused(Refusal),
}

impl Objection {
    /// How near it came to being accepted. The nearest one is worth telling.
    const fn rank(&self) -> u8 {
        match self {
            Self::OtherRepository { .. } => 6,
            Self::OtherDigest { .. } => 5,
            Self::Refused(Refusal::Untrusted { .. }) => 4,
            Self::Refused(Refusal::OtherIdentity { .. }) => 3,
            Self::Refused(Refusal::OtherKey | Refusal::NoIdentity) => 2,
            Self::Refused(Refusal::Unreadable { .. }) => 1,
            Self::Refused(Refusal::Attestation { .. }) => 0,
        }
    }

    fn into_error(self, digest: &Digest) -> Error {
        let digest = digest.clone();
        match self {
            Self::OtherRepository { signed_as, repository } => {
                Error::SignatureOfOtherRepository { digest, signed_as, repository }
            }
            Self::OtherDigest { signed } => Error::SignatureOfOtherDigest { digest, signed },
            Self::Refused(Refusal::Attestation { .. }) => Error::NoSignature { digest },
            Self::Refused(refusal) => Error::SignatureRefused { digest, refusal },
        }
    }
}
