//! Who vouches for an artifact, as the source asks for it.

use std::{
    fmt,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    str,
};

use flumen_api::{OciVerification, OciVerificationProvider};
use flumen_oci::{
    Descriptor, Target,
    signature::{Policy, verify},
};
use flumen_sign::{Identity, Pattern, PublicKey, Signer, Trust, TrustedRoot};

use super::{Error, Remote, Resolved, SecretData};

const PUBLIC_KEY_SUFFIX: &str = ".pub";
const TRUSTED_ROOT: &str = "trusted_root.json";
/// Flux fetches the public root from Sigstore; here nobody is trusted who is not named.
const NO_ROOT: &str = "the public root of Sigstore is not at hand; put a trusted root under the key \
                       'trusted_root.json' of a Secret, name it in spec.verify.trustedRootSecretRef, or verify \
                       with keys in spec.verify.secretRef";

/// Whom signatures may come from.
#[derive(Clone, Copy, Default)]
pub struct Trusted<'t> {
    /// The Secret of `verify.secretRef`.
    pub keys: Option<&'t SecretData>,
    /// The Secret of `verify.trustedRootSecretRef`.
    pub root: Option<&'t SecretData>,
}

impl Trusted<'_> {
    /// Changes when others are trusted. Then signatures are to be verified again, although the
    /// artifact is the same.
    pub fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (self.keys, self.root).hash(&mut hasher);
        hasher.finish()
    }
}

impl fmt::Debug for Trusted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Trusted")
    }
}

impl Remote<'_> {
    /// Looks for a signature that the source asks for. None if it asks for no signature.
    pub async fn verify(
        &self,
        resolved: &Resolved,
        trusted: Trusted<'_>,
    ) -> Result<Option<Signer>, Error> {
        let Some(wanted) = &self.request.spec.verify else { return Ok(None) };
        let provider = provider(wanted);
        let failed = |reason: String| Error::Verification { provider, reason };
        let policies = policies(wanted, trusted).map_err(failed)?;
        let work = async {
            let descriptor = self.descriptor(resolved).await.map_err(|e| failed(self.words(&e)))?;
            for policy in &policies {
                match verify(&self.repository, &descriptor, policy).await {
                    Ok(verified) => return Ok(Some(verified.signer)),
                    Err(error) if is_verdict(&error) => {}
                    Err(error) => return Err(failed(self.words(&error))),
                }
            }
            let name = self.reference.pinned(&resolved.digest);
            Err(failed(format!("no matching signatures were found for '{name}'")))
        };
        self.within_time(failed, work).await
    }

    async fn descriptor(&self, resolved: &Resolved) -> Result<Descriptor, flumen_oci::Error> {
        match &resolved.descriptor {
            Some(descriptor) => Ok(descriptor.clone()),
            None => self.repository.resolve(&Target::Digest(resolved.digest.clone())).await,
        }
    }
}

/// What suffices; one of them is enough.
fn policies(wanted: &OciVerification, trusted: Trusted<'_>) -> Result<Vec<Policy>, String> {
    if wanted.provider == OciVerificationProvider::Notation {
        return Err("signatures of notation cannot be verified yet".to_owned());
    }
    let root = trusted.root.map(root_text).transpose()?;
    let root = || root.map(TrustedRoot::from_json).transpose().map_err(|e| e.to_string());
    if wanted.secret_ref.is_some() {
        let keys = trusted.keys.map_or(Ok(Vec::new()), public_keys)?;
        return Ok(vec![policy(Trust { keys, root: root()?, identity: None })]);
    }
    let identities = identities(wanted)?.into_iter();
    identities
        .map(|identity| match root()? {
            Some(root) => {
                let identity = Some(identity);
                Ok(policy(Trust { keys: Vec::new(), root: Some(root), identity }))
            }
            None => Err(NO_ROOT.to_owned()),
        })
        .collect()
}

impl Error {
    /// A verification that could not even begin.
    pub fn verification(wanted: &OciVerification, reason: String) -> Self {
        Self::Verification { provider: provider(wanted), reason }
    }
}

/// How messages name what was tried.
fn provider(wanted: &OciVerification) -> &'static str {
    match (wanted.provider, &wanted.secret_ref) {
        (OciVerificationProvider::Cosign, Some(_)) => "cosign",
        (OciVerificationProvider::Cosign, None) => "cosign keyless",
        (OciVerificationProvider::Notation, _) => "notation",
    }
}

const fn policy(trust: Trust) -> Policy {
    Policy { trust, signed_as: None }
}

fn public_keys(secret: &SecretData) -> Result<Vec<PublicKey>, String> {
    let keys = secret.iter().filter(|(name, _)| name.ends_with(PUBLIC_KEY_SUFFIX));
    let read = |(name, pem): (&String, &Vec<u8>)| {
        let pem = str::from_utf8(pem).map_err(|_| format!("'{name}' is not a text"))?;
        PublicKey::from_pem(pem).map_err(|error| format!("'{name}': {error}"))
    };
    keys.map(read).collect()
}

fn root_text(secret: &SecretData) -> Result<&str, String> {
    let text = secret.get(TRUSTED_ROOT);
    let text = text.ok_or_else(|| format!("'{TRUSTED_ROOT}' not found in the secret"))?;
    str::from_utf8(text).map_err(|_| format!("'{TRUSTED_ROOT}' is not a text"))
}

/// Everybody if nobody is named, as with cosign.
fn identities(wanted: &OciVerification) -> Result<Vec<Identity>, String> {
    let identity = |subject: &str, issuer: &str| {
        let pattern = |text: &str| Pattern::matching(text).map_err(|error| error.to_string());
        Ok(Identity { subject: pattern(subject)?, issuer: pattern(issuer)? })
    };
    if wanted.match_oidc_identity.is_empty() {
        return Ok(vec![identity("", "")?]);
    }
    let named = wanted.match_oidc_identity.iter();
    named.map(|named| identity(&named.subject, &named.issuer)).collect()
}

/// Whether signatures were looked at and none counts; another policy may judge otherwise.
const fn is_verdict(error: &flumen_oci::Error) -> bool {
    use flumen_oci::Error as E;
    matches!(
        error,
        E::NoSignature { .. }
            | E::SignatureRefused { .. }
            | E::SignatureOfOtherDigest { .. }
            | E::SignatureOfOtherRepository { .. }
            | E::TooManySignatures { .. }
    )
}
