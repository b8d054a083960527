//! Certificates and keys in PEM. No message quotes what a file or a kubeconfig holds.

use std::{fs, sync::Arc};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use rustls::{
    crypto::CryptoProvider,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
    sign::CertifiedKey,
};

use super::kubeconfig::{Pem, User};
use crate::ConfigError;

impl Pem {
    /// Where it is, for messages.
    pub(super) fn place(&self, field: &str) -> String {
        match self {
            Self::Data(_) => format!("`{field}-data`"),
            Self::File(path) => format!("`{}`", path.display()),
        }
    }

    /// The PEM text. `field` is the name of the file's field in a kubeconfig.
    pub(super) fn read(&self, field: &str) -> Result<Vec<u8>, ConfigError> {
        match self {
            Self::Data(data) => STANDARD
                .decode(one_line(data))
                .map_err(|_| unusable(format!("{} is not base64", self.place(field)))),
            Self::File(path) => fs::read(path)
                .map_err(|error| unusable(format!("`{}` cannot be read: {error}", path.display()))),
        }
    }
}

/// Base64 in a block of YAML has line ends.
pub(super) fn one_line(data: &str) -> String {
    data.replace(['\n', '\r'], "")
}

/// The certificates in `pem`, of which there is at least one. `place` says where they are from.
pub(super) fn certificates(
    pem: &[u8],
    place: &str,
) -> Result<Vec<CertificateDer<'static>>, ConfigError> {
    let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    match certificates {
        Ok(certificates) if !certificates.is_empty() => Ok(certificates),
        Ok(_) => Err(unusable(format!("there is no certificate in {place}"))),
        Err(_) => Err(unusable(format!("{place} is not PEM"))),
    }
}

/// The client certificate of a user of a kubeconfig.
pub(super) fn of_user(
    user: &User,
    provider: &CryptoProvider,
) -> Result<Option<Arc<CertifiedKey>>, ConfigError> {
    let (certificate, key) = match (&user.client_certificate, &user.client_key) {
        (None, None) => return Ok(None),
        (Some(certificate), Some(key)) => (certificate, key),
        (Some(_), None) => return Err(unusable("the client certificate has no key".to_owned())),
        (None, Some(_)) => return Err(unusable("the client key has no certificate".to_owned())),
    };
    let [certificate_field, key_field] = ["client-certificate", "client-key"];
    let places = [certificate.place(certificate_field), key.place(key_field)];
    let (certificate, key) = (certificate.read(certificate_field)?, key.read(key_field)?);
    certified_key(&certificate, &key, &places, provider).map(Some)
}

/// A certificate chain with the key of its first certificate. `places` say where the two are from.
pub(super) fn certified_key(
    certificate: &[u8],
    key: &[u8],
    places: &[String; 2],
    provider: &CryptoProvider,
) -> Result<Arc<CertifiedKey>, ConfigError> {
    let chain = certificates(certificate, &places[0])?;
    let key = PrivateKeyDer::from_pem_slice(key)
        .map_err(|_| unusable(format!("there is no private key in {}", places[1])))?;
    let key = CertifiedKey::from_der(chain, key, provider).map_err(|error| {
        unusable(format!("the private key in {} cannot be used: {error}", places[1]))
    })?;
    Ok(Arc::new(key))
}

fn unusable(reason: String) -> ConfigError {
    ConfigError::Tls { reason }
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, KeyPair, PKCS_ED25519, PKCS_RSA_SHA256, RsaKeySize};
    use rustls::crypto::aws_lc_rs;

    use super::*;

    fn self_signed(key: &KeyPair) -> String {
        let params = CertificateParams::new(vec!["localhost".to_owned()]).expect("names");
        params.self_signed(key).expect("a certificate").pem()
    }

    fn pem(label: &str, der: &[u8]) -> String {
        format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", STANDARD.encode(der))
    }

    /// The key inside of PKCS#8, which is its last field.
    fn inner(pkcs8: &[u8], header: &[u8]) -> Vec<u8> {
        let start = pkcs8.windows(header.len()).position(|bytes| bytes == header);
        pkcs8[start.expect("a key")..].to_vec()
    }

    fn fit(certificate: &str, key: &str) -> Result<(), ConfigError> {
        let places = ["the certificate", "the key"].map(str::to_owned);
        let provider = aws_lc_rs::default_provider();
        certified_key(certificate.as_bytes(), key.as_bytes(), &places, &provider).map(drop)
    }

    #[test]
    fn keys_are_read_in_all_forms() {
        let elliptic = KeyPair::generate().expect("a key");
        let certificate = self_signed(&elliptic);
        fit(&certificate, &elliptic.serialize_pem()).expect("PKCS#8");
        // ECPrivateKey: version 1 and 32 bytes.
        let sec1 = inner(elliptic.serialized_der(), &[0x02, 0x01, 0x01, 0x04, 0x20]);
        let length = u8::try_from(sec1.len()).expect("short");
        let sec1 = pem("EC PRIVATE KEY", &[&[0x30, length][..], &sec1].concat());
        fit(&certificate, &sec1).expect("SEC1");
        let parameters = pem("EC PARAMETERS", &[0x06, 0x00]);
        fit(&certificate, &format!("{parameters}{sec1}")).expect("as OpenSSL writes it");
        fit(&format!("{certificate}{sec1}"), &format!("{certificate}{sec1}")).expect("one file");

        let rsa = KeyPair::generate_rsa_for(&PKCS_RSA_SHA256, RsaKeySize::_2048).expect("a key");
        let pkcs8 = rsa.serialized_der();
        // RSAPrivateKey follows the octet string's header and starts with version 0.
        let start =
            pkcs8.windows(2).skip(4).position(|bytes| bytes == [0x30, 0x82]).expect("a key");
        let pkcs1 = pem("RSA PRIVATE KEY", &pkcs8[start + 4..]);
        fit(&self_signed(&rsa), &pkcs1).expect("PKCS#1");

        let edwards = KeyPair::generate_for(&PKCS_ED25519).expect("a key");
        fit(&self_signed(&edwards), &edwards.serialize_pem()).expect("Ed25519");
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let (key, other) =
            (KeyPair::generate().expect("a key"), KeyPair::generate().expect("a key"));
        let (certificate, key) = (self_signed(&key), key.serialize_pem());
        let check = |certificate: &str, key: &str, reason: &str| {
            let error = fit(certificate, key).expect_err(reason);
            let message = format!("no secure connection can be made: {reason}");
            assert_eq!(error.to_string(), message);
        };
        check("hunter2", &key, "there is no certificate in the certificate");
        check(&certificate, "hunter2", "there is no private key in the key");
        check(&certificate, &certificate, "there is no private key in the key");
        let broken = key.replace("-----END", "hunter2!\n-----END");
        check(&certificate, &broken, "there is no private key in the key");
        let error = fit(&certificate, &other.serialize_pem()).expect_err("another key");
        assert!(
            error.to_string().contains(": the private key in the key cannot be used: "),
            "{error}"
        );
    }

    #[test]
    fn certificate_and_key_belong_together() {
        let file = || Some(Pem::File("missing.pem".into()));
        let check = |user: &User, reason: &str| {
            let error = of_user(user, &aws_lc_rs::default_provider()).expect_err(reason);
            let message = format!("no secure connection can be made: {reason}");
            assert_eq!(error.to_string(), message);
        };
        let alone = User { client_certificate: file(), ..User::default() };
        check(&alone, "the client certificate has no key");
        let alone = User { client_key: file(), ..User::default() };
        check(&alone, "the client key has no certificate");
        let both = User { client_certificate: file(), client_key: file(), ..User::default() };
        check(&both, "`missing.pem` cannot be read: No such file or directory (os error 2)");
        assert!(of_user(&User::default(), &aws_lc_rs::default_provider()).expect("none").is_none());
    }
}
