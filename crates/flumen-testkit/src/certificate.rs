//! A certificate for servers on the loopback interface, and the authority that signed it.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, KeyUsagePurpose};

/// PEM files in a directory of the caller.
#[derive(Debug, Clone)]
pub struct Certificate {
    /// What a client must be told to trust.
    pub authority: PathBuf,
    pub certificate: PathBuf,
    pub key: PathBuf,
}

impl Certificate {
    /// Makes an authority and a certificate for `127.0.0.1` and `localhost`.
    pub fn for_loopback(directory: &Path) -> io::Result<Self> {
        let files = Self {
            authority: directory.join("ca.pem"),
            certificate: directory.join("server.pem"),
            key: directory.join("server-key.pem"),
        };
        let (authority, certificate, key) = make().map_err(io::Error::other)?;
        fs::write(&files.authority, authority)?;
        fs::write(&files.certificate, certificate)?;
        fs::write(&files.key, key)?;
        Ok(files)
    }
}

fn make() -> Result<(String, String, String), rcgen::Error> {
    let mut authority = CertificateParams::new(Vec::new())?;
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    authority.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    let authority_key = KeyPair::generate()?;
    let authority_text = authority.self_signed(&authority_key)?.pem();

    let names = ["127.0.0.1", "localhost"].map(str::to_owned);
    let key = KeyPair::generate()?;
    let certificate =
        CertificateParams::new(names)?.signed_by(&key, &Issuer::new(authority, authority_key))?;
    Ok((authority_text, certificate.pem(), key.serialize_pem()))
}
