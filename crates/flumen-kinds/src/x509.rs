//! Certificates, requests for them and their keys, read as far as the server looks into them. What is wrong is
//! said in the words of Go.

use aws_lc_rs::signature::{
    ECDSA_P256_SHA1_ASN1, ECDSA_P256_SHA256_ASN1, ECDSA_P256_SHA256_ASN1_SIGNING,
    ECDSA_P256_SHA384_ASN1, ECDSA_P256_SHA512_ASN1, ECDSA_P384_SHA256_ASN1, ECDSA_P384_SHA384_ASN1,
    ECDSA_P384_SHA384_ASN1_SIGNING, ECDSA_P384_SHA512_ASN1, ECDSA_P521_SHA1_ASN1,
    ECDSA_P521_SHA256_ASN1, ECDSA_P521_SHA384_ASN1, ECDSA_P521_SHA512_ASN1,
    ECDSA_P521_SHA512_ASN1_SIGNING, ED25519, EcdsaKeyPair, EcdsaSigningAlgorithm, Ed25519KeyPair,
    KeyPair as _, RSA_PKCS1_1024_8192_SHA1_FOR_LEGACY_USE_ONLY,
    RSA_PKCS1_1024_8192_SHA256_FOR_LEGACY_USE_ONLY, RSA_PKCS1_1024_8192_SHA512_FOR_LEGACY_USE_ONLY,
    RSA_PKCS1_2048_8192_SHA384, RSA_PSS_2048_8192_SHA256, RSA_PSS_2048_8192_SHA384,
    RSA_PSS_2048_8192_SHA512, UnparsedPublicKey, VerificationAlgorithm,
};
use x509_cert::der::asn1::{AnyRef, BitStringRef, ObjectIdentifier, OctetStringRef, UintRef};
use x509_cert::der::{self, ErrorKind, Reader, SliceReader, Tag, TagNumber};
use x509_cert::spki::{AlgorithmIdentifierRef, SubjectPublicKeyInfoRef};

use crate::pem;

const REQUEST: &str = "CERTIFICATE REQUEST";
const CERTIFICATE: &str = "CERTIFICATE";
const PRIVATE_KEY: &str = "PRIVATE KEY";
const MALFORMED: &str = "x509: malformed certificate";
const UNIMPLEMENTED: &str = "x509: cannot verify signature: algorithm unimplemented";
const UNLIKE: &str = "tls: private key does not match public key";
const UNLIKE_TYPE: &str = "tls: private key type does not match public key type";

const RSA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.1");
const MD5_WITH_RSA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.4");
const SHA1_WITH_RSA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.5");
const RSA_PSS: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.10");
const SHA256_WITH_RSA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.11");
const SHA384_WITH_RSA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.12");
const SHA512_WITH_RSA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.13");
const EC: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.2.1");
const P256: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.3.1.7");
const P384: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.132.0.34");
const P521: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.132.0.35");
const ECDSA_SHA1: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.4.1");
const ECDSA_SHA256: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.4.3.2");
const ECDSA_SHA384: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.4.3.3");
const ECDSA_SHA512: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.4.3.4");
const EDWARDS: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.101.112");

static RSA_ALGORITHMS: &[(ObjectIdentifier, &dyn VerificationAlgorithm)] = &[
    (SHA1_WITH_RSA, &RSA_PKCS1_1024_8192_SHA1_FOR_LEGACY_USE_ONLY),
    (SHA256_WITH_RSA, &RSA_PKCS1_1024_8192_SHA256_FOR_LEGACY_USE_ONLY),
    (SHA384_WITH_RSA, &RSA_PKCS1_2048_8192_SHA384),
    (SHA512_WITH_RSA, &RSA_PKCS1_1024_8192_SHA512_FOR_LEGACY_USE_ONLY),
    // Its parameters name the hash; a signature fits only one of them.
    (RSA_PSS, &RSA_PSS_2048_8192_SHA256),
    (RSA_PSS, &RSA_PSS_2048_8192_SHA384),
    (RSA_PSS, &RSA_PSS_2048_8192_SHA512),
];

static EC_ALGORITHMS: &[(ObjectIdentifier, ObjectIdentifier, &dyn VerificationAlgorithm)] = &[
    (ECDSA_SHA1, P256, &ECDSA_P256_SHA1_ASN1),
    (ECDSA_SHA256, P256, &ECDSA_P256_SHA256_ASN1),
    (ECDSA_SHA384, P256, &ECDSA_P256_SHA384_ASN1),
    (ECDSA_SHA512, P256, &ECDSA_P256_SHA512_ASN1),
    (ECDSA_SHA256, P384, &ECDSA_P384_SHA256_ASN1),
    (ECDSA_SHA384, P384, &ECDSA_P384_SHA384_ASN1),
    (ECDSA_SHA512, P384, &ECDSA_P384_SHA512_ASN1),
    (ECDSA_SHA1, P521, &ECDSA_P521_SHA1_ASN1),
    (ECDSA_SHA256, P521, &ECDSA_P521_SHA256_ASN1),
    (ECDSA_SHA384, P521, &ECDSA_P521_SHA384_ASN1),
    (ECDSA_SHA512, P521, &ECDSA_P521_SHA512_ASN1),
];

static CURVES: [&EcdsaSigningAlgorithm; 3] = [
    &ECDSA_P256_SHA256_ASN1_SIGNING,
    &ECDSA_P384_SHA384_ASN1_SIGNING,
    &ECDSA_P521_SHA512_ASN1_SIGNING,
];

/// Why a text is no request for a certificate that was signed with the key in it.
pub(crate) fn request_problem(text: &[u8]) -> Option<String> {
    let first = pem::blocks(text).into_iter().next().filter(|block| block.label == REQUEST);
    let Some(block) = first else {
        return Some(format!("PEM block type must be {REQUEST}"));
    };
    match SignedRequest::read(&block.content) {
        Ok(request) => request.problem(),
        Err(error) => Some(asn1(&error).to_owned()),
    }
}

/// Why a text does not hold certificates and nothing else.
pub(crate) fn certificates_problem(text: &[u8]) -> Option<String> {
    let blocks = pem::blocks(text);
    for block in &blocks {
        if block.label != CERTIFICATE {
            let label = &block.label;
            return Some(format!("only {CERTIFICATE} PEM blocks are allowed, found {label:?}"));
        }
        if block.has_headers {
            return Some("no PEM block headers are permitted".into());
        }
        if block.content.is_empty() {
            return Some(format!("found {CERTIFICATE} PEM block containing 0 certificates"));
        }
        let mut reader = SliceReader::new(&block.content).ok();
        while let Some(left) = reader.as_mut().filter(|reader| !reader.is_finished()) {
            if public_key(left).is_err() {
                return Some(MALFORMED.into());
            }
        }
    }
    blocks.is_empty().then(|| format!("must contain at least one {CERTIFICATE} PEM block"))
}

/// Why a server could not use a certificate with a key.
pub(crate) fn key_pair_problem(certificate: &[u8], key: &[u8]) -> Option<String> {
    let (found, others): (Vec<_>, Vec<_>) =
        pem::blocks(certificate).into_iter().partition(|block| block.label == CERTIFICATE);
    let labels = |blocks: &[pem::Block]| {
        let labels: Vec<&str> = blocks.iter().map(|block| block.label.as_str()).collect();
        labels.join(" ")
    };
    let Some(leaf) = found.first() else {
        return Some(match others.as_slice() {
            [] => "tls: failed to find any PEM data in certificate input".into(),
            [one] if one.label.ends_with(PRIVATE_KEY) => {
                "tls: failed to find certificate PEM data in certificate input, but did find a \
                 private key; PEM inputs may have been switched"
                    .into()
            }
            several => format!(
                "tls: failed to find \"{CERTIFICATE}\" PEM block in certificate input after \
                 skipping PEM blocks of the following types: [{}]",
                labels(several)
            ),
        });
    };
    let (keys, others): (Vec<_>, Vec<_>) = pem::blocks(key).into_iter().partition(|block| {
        block.label == PRIVATE_KEY || block.label.ends_with(&format!(" {PRIVATE_KEY}"))
    });
    let Some(key) = keys.first() else {
        return Some(match others.as_slice() {
            [] => "tls: failed to find any PEM data in key input".into(),
            [one] if one.label == CERTIFICATE => {
                "tls: found a certificate rather than a key in the PEM for the private key".into()
            }
            several => format!(
                "tls: failed to find PEM block with type ending in \"{PRIVATE_KEY}\" in key input \
                 after skipping PEM blocks of the following types: [{}]",
                labels(several)
            ),
        });
    };
    let whole = |reader: &mut SliceReader<'_>| public_key(reader).map(|key| Public::of(&key));
    let mut reader = SliceReader::new(&leaf.content).ok();
    let Some(Ok(public)) = reader.as_mut().map(whole) else { return Some(MALFORMED.into()) };
    let Some(private) = Public::of_private(&key.content) else {
        return Some("tls: failed to parse private key".into());
    };
    match (public, private) {
        (None, _) => Some("tls: unknown public key algorithm".into()),
        (Some(public), private) if public == private => None,
        (Some(public), private) if public.has_type_of(&private) => Some(UNLIKE.into()),
        (Some(_), _) => Some(UNLIKE_TYPE.into()),
    }
}

/// What Go's decoder says of an encoding that is broken like this.
fn asn1(error: &der::Error) -> &'static str {
    match error.kind() {
        ErrorKind::Incomplete { .. } => "asn1: syntax error: data truncated",
        ErrorKind::TrailingData { .. } => "asn1: syntax error: trailing data",
        ErrorKind::TagUnexpected { .. } => "asn1: structure error: tags don't match",
        _ => "asn1: structure error: base 128 integer too large",
    }
}

/// A request for a certificate.
struct SignedRequest<'a> {
    signed: &'a [u8],
    key: SubjectPublicKeyInfoRef<'a>,
    algorithm: AlgorithmIdentifierRef<'a>,
    signature: BitStringRef<'a>,
}

impl<'a> SignedRequest<'a> {
    fn read(content: &'a [u8]) -> der::Result<Self> {
        let mut reader = SliceReader::new(content)?;
        let (signed, algorithm, signature) =
            reader.sequence(|of| Ok((of.tlv_bytes()?, of.decode()?, of.decode()?)))?;
        reader.finish(())?;
        let mut info = SliceReader::new(signed)?;
        let key = info.sequence(|info| {
            // The version and the subject.
            info.tlv_bytes()?;
            info.tlv_bytes()?;
            let key = info.decode()?;
            let attributes = Tag::ContextSpecific { constructed: true, number: TagNumber::N0 };
            info.peek_tag()?.assert_eq(attributes)?;
            info.tlv_bytes()?;
            Ok(key)
        })?;
        Ok(Self { signed, key, algorithm, signature })
    }

    /// Why the signature is not one of the key.
    fn problem(&self) -> Option<String> {
        let wanted = self.algorithm.oid;
        let curve = self.key.algorithm.parameters.and_then(|of| of.decode_as().ok());
        let rsa = || RSA_ALGORITHMS.iter().filter(|(of, _)| *of == wanted);
        let signed_by = match wanted {
            MD5_WITH_RSA => {
                return Some("x509: cannot verify signature: insecure algorithm MD5-RSA".into());
            }
            EDWARDS => EDWARDS,
            ECDSA_SHA1 | ECDSA_SHA256 | ECDSA_SHA384 | ECDSA_SHA512 => EC,
            _ if rsa().next().is_some() => RSA,
            _ => return Some(UNIMPLEMENTED.into()),
        };
        let found = self.key.algorithm.oid;
        let Some((_, type_found)) =
            KEYS.iter().find(|(of, ..)| *of == found).map(|row| (row.0, row.2))
        else {
            return Some(UNIMPLEMENTED.into());
        };
        if found != signed_by {
            let name = KEYS.iter().find(|(of, ..)| *of == signed_by).map_or("", |row| row.1);
            return Some(format!(
                "x509: signature algorithm specifies an {name} public key, but have public key of type {type_found}"
            ));
        }
        let (algorithms, problem): (Vec<&'static dyn VerificationAlgorithm>, _) = match found {
            EDWARDS => (vec![&ED25519], "x509: Ed25519 verification failure"),
            EC => {
                let fitting =
                    EC_ALGORITHMS.iter().filter(|(of, on, _)| *of == wanted && Some(*on) == curve);
                (fitting.map(|row| row.2).collect(), "x509: ECDSA verification failure")
            }
            _ => (rsa().map(|row| row.1).collect(), "crypto/rsa: verification error"),
        };
        if algorithms.is_empty() {
            return Some(UNIMPLEMENTED.into());
        }
        let is_signed = algorithms.into_iter().any(|algorithm| {
            let key = UnparsedPublicKey::new(algorithm, self.key.subject_public_key.raw_bytes());
            key.verify(self.signed, self.signature.raw_bytes()).is_ok()
        });
        (!is_signed).then(|| problem.into())
    }
}

/// Kinds of keys: what Go calls them, and its types.
const KEYS: [(ObjectIdentifier, &str, &str); 3] = [
    (RSA, "RSA", "*rsa.PublicKey"),
    (EC, "ECDSA", "*ecdsa.PublicKey"),
    (EDWARDS, "Ed25519", "ed25519.PublicKey"),
];

/// Reads a certificate and takes the key out of it.
fn public_key<'a>(reader: &mut SliceReader<'a>) -> der::Result<SubjectPublicKeyInfoRef<'a>> {
    let certificate = reader.sequence(|certificate| {
        let signed = certificate.tlv_bytes()?;
        let _: AlgorithmIdentifierRef<'_> = certificate.decode()?;
        let _: BitStringRef<'_> = certificate.decode()?;
        Ok(signed)
    })?;
    SliceReader::new(certificate)?.sequence(|of| {
        let version = Tag::ContextSpecific { constructed: true, number: TagNumber::N0 };
        if of.peek_tag()? == version {
            of.tlv_bytes()?;
        }
        let _: AnyRef<'_> = of.decode()?;
        let _: AlgorithmIdentifierRef<'_> = of.decode()?;
        // The issuer, the time in which it is valid, and the subject.
        for _ in 0..3 {
            of.peek_tag()?.assert_eq(Tag::Sequence)?;
            of.tlv_bytes()?;
        }
        let key = of.decode()?;
        while !of.is_finished() {
            of.tlv_bytes()?;
        }
        Ok(key)
    })
}

/// A public key, as it can be compared.
#[derive(Debug, PartialEq, Eq)]
enum Public {
    Rsa { modulus: Vec<u8>, exponent: Vec<u8> },
    Ec(Vec<u8>),
    Edwards(Vec<u8>),
}

impl Public {
    fn of(key: &SubjectPublicKeyInfoRef<'_>) -> Option<Self> {
        let bytes = key.subject_public_key.raw_bytes();
        match key.algorithm.oid {
            RSA => {
                let mut reader = SliceReader::new(bytes).ok()?;
                reader.sequence(Self::rsa).ok()
            }
            EC => Some(Self::Ec(bytes.to_vec())),
            EDWARDS => Some(Self::Edwards(bytes.to_vec())),
            _ => None,
        }
    }

    fn rsa<'a>(reader: &mut impl Reader<'a>) -> der::Result<Self> {
        let (modulus, exponent): (UintRef<'_>, UintRef<'_>) = (reader.decode()?, reader.decode()?);
        let (modulus, exponent) = (modulus.as_bytes().to_vec(), exponent.as_bytes().to_vec());
        Ok(Self::Rsa { modulus, exponent })
    }

    /// The public half of a private key in any of the forms that Go reads.
    fn of_private(key: &[u8]) -> Option<Self> {
        Self::of_rsa(key).or_else(|| Self::of_wrapped(key)).or_else(|| Self::of_ec(key))
    }

    fn of_rsa(key: &[u8]) -> Option<Self> {
        let mut reader = SliceReader::new(key).ok()?;
        let public = reader.sequence(|of| {
            let _: UintRef<'_> = of.decode()?;
            let public = Self::rsa(of)?;
            while !of.is_finished() {
                of.tlv_bytes()?;
            }
            Ok(public)
        });
        public.ok()
    }

    fn of_wrapped(key: &[u8]) -> Option<Self> {
        let mut reader = SliceReader::new(key).ok()?;
        let (algorithm, inner) = reader
            .sequence(|of| {
                let _: UintRef<'_> = of.decode()?;
                let algorithm: AlgorithmIdentifierRef<'_> = of.decode()?;
                let inner: OctetStringRef<'_> = of.decode()?;
                while !of.is_finished() {
                    of.tlv_bytes()?;
                }
                Ok((algorithm, inner))
            })
            .ok()?;
        match algorithm.oid {
            RSA => Self::of_rsa(inner.as_bytes()),
            EC => Self::of_ec(key),
            EDWARDS => {
                let pair = Ed25519KeyPair::from_pkcs8_maybe_unchecked(key).ok()?;
                Some(Self::Edwards(pair.public_key().as_ref().to_vec()))
            }
            _ => None,
        }
    }

    fn of_ec(key: &[u8]) -> Option<Self> {
        let pair = |curve: &&'static EcdsaSigningAlgorithm| {
            EcdsaKeyPair::from_private_key_der(curve, key).ok()
        };
        let pair = CURVES.iter().find_map(pair)?;
        Some(Self::Ec(pair.public_key().as_ref().to_vec()))
    }

    fn has_type_of(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }
}
