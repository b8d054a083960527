//! Users by the certificate of their connection: the common name is the user, organizations are groups.
//!
//! The handshake takes any certificate whose key the client has. Whether it tells anything is for each
//! request to say, so that a client with a stale one is answered, and not only hung up on.

use std::{fmt, sync::Arc, time::Duration};

use rustls::{
    DigitallySignedStruct, DistinguishedName, Error as RustlsError, RootCertStore, SignatureScheme,
    client::danger::HandshakeSignatureValid,
    crypto::aws_lc_rs,
    pki_types::{CertificateDer, UnixTime, pem::PemObject as _},
    server::{
        VerifierBuilderError, WebPkiClientVerifier,
        danger::{ClientCertVerified, ClientCertVerifier},
    },
};
use sha2::{Digest as _, Sha256};
use thiserror::Error;
use x509_cert::{
    Certificate,
    attr::AttributeTypeAndValue,
    der::{
        Decode as _, Tag, Tagged as _,
        oid::{ObjectIdentifier, db::rfc4519},
    },
    name::Name,
};

use crate::{User, clock};

const UID: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.6.1.4.1.57683.2");
const CREDENTIAL: &str = "authentication.kubernetes.io/credential-id";

/// Why certificates of clients cannot be checked.
#[derive(Debug, Error)]
pub enum ClientAuthorityError {
    #[error("cannot read the certificates of the authority")]
    Read(#[from] rustls::pki_types::pem::Error),
    #[error("cannot use the certificates of the authority")]
    Use(#[from] RustlsError),
    #[error("there is no certificate of an authority")]
    Build(#[from] VerifierBuilderError),
}

/// Who signs the certificates of clients.
#[derive(Clone)]
pub struct ClientAuthority(Arc<dyn ClientCertVerifier>);

impl fmt::Debug for ClientAuthority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ClientAuthority").finish_non_exhaustive()
    }
}

/// What the certificate of a connection says of its client.
#[derive(Clone, Debug, Default)]
pub(crate) enum Presented {
    /// There is none, or it names nobody.
    #[default]
    Nobody,
    /// It cannot be trusted.
    Refused,
    Known {
        user: User,
        until: UnixTime,
    },
}

impl ClientAuthority {
    pub fn from_pem(text: &str) -> Result<Self, ClientAuthorityError> {
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_slice_iter(text.as_bytes()) {
            roots.add(certificate?)?;
        }
        let provider = Arc::new(aws_lc_rs::default_provider());
        let verifier =
            WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build()?;
        Ok(Self(verifier))
    }

    /// For the handshake.
    pub(crate) fn lenient(&self) -> Arc<dyn ClientCertVerifier> {
        Arc::new(Lenient(Arc::clone(&self.0)))
    }

    /// Reads the certificate of a connection. This costs signatures, and is done once for each.
    pub(crate) fn read(&self, chain: &[CertificateDer<'_>]) -> Presented {
        let [certificate, intermediates @ ..] = chain else { return Presented::Nobody };
        let trusted = self.0.verify_client_cert(certificate, intermediates, now());
        match trusted.ok().and_then(|_| Certificate::from_der(certificate).ok()) {
            Some(parsed) => name(&parsed, certificate),
            None => Presented::Refused,
        }
    }
}

impl Presented {
    /// The user, if the certificate names one; an error if it is, by now, not to be trusted.
    pub(super) fn user(&self) -> Result<Option<&User>, Refused> {
        match self {
            Self::Nobody => Ok(None),
            Self::Known { user, until } if now() <= *until => Ok(Some(user)),
            Self::Known { .. } | Self::Refused => Err(Refused),
        }
    }
}

/// A certificate that is not to be trusted.
#[derive(Debug)]
pub(super) struct Refused;

fn now() -> UnixTime {
    let seconds = u64::try_from(clock::now().as_second()).unwrap_or_default();
    UnixTime::since_unix_epoch(Duration::from_secs(seconds))
}

fn name(parsed: &Certificate, certificate: &[u8]) -> Presented {
    let subject = &parsed.tbs_certificate.subject;
    let Some(name) = texts(subject, rfc4519::CN).last().filter(|name| !name.is_empty()) else {
        return Presented::Nobody;
    };
    let uids: Vec<String> = texts(subject, UID).collect();
    let uid = match uids.as_slice() {
        [] => String::new(),
        [uid] if !uid.is_empty() => uid.clone(),
        _ => return Presented::Refused,
    };
    let credential = format!("X509SHA256={:x}", Sha256::digest(certificate));
    let until = parsed.tbs_certificate.validity.not_after.to_unix_duration();
    let user = User {
        name,
        uid,
        groups: organizations(subject).collect(),
        extra: [(CREDENTIAL.to_owned(), vec![credential])].into(),
    };
    Presented::Known { user, until: UnixTime::since_unix_epoch(until) }
}

/// The groups that a name is of.
pub(crate) fn organizations(name: &Name) -> impl Iterator<Item = String> + '_ {
    texts(name, rfc4519::O)
}

/// All values of one attribute, in order.
fn texts(name: &Name, attribute: ObjectIdentifier) -> impl Iterator<Item = String> + '_ {
    let all = name.0.iter().flat_map(|part| part.0.iter());
    all.filter(move |found| found.oid == attribute).filter_map(text)
}

fn text(attribute: &AttributeTypeAndValue) -> Option<String> {
    let is_text = matches!(
        attribute.value.tag(),
        Tag::Utf8String | Tag::PrintableString | Tag::Ia5String | Tag::TeletexString
    );
    let text = std::str::from_utf8(attribute.value.value()).ok()?;
    is_text.then(|| text.to_owned())
}

/// Asks for a certificate and takes what comes, provided that the client has its key.
#[derive(Debug)]
struct Lenient(Arc<dyn ClientCertVerifier>);

impl ClientCertVerifier for Lenient {
    fn client_auth_mandatory(&self) -> bool {
        false
    }

    /// Clients with certificates of others keep them for themselves.
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        self.0.root_hint_subjects()
    }

    fn verify_client_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, RustlsError> {
        Ok(ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, RustlsError> {
        self.0.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, RustlsError> {
        self.0.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_verify_schemes()
    }
}
