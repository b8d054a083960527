//! Certificates for servers on the loopback interface and for their users, and who signed them.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};

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
        Authority::new()?.certify_loopback(directory)
    }
}

/// Signs certificates of one cluster or server.
pub(crate) struct Authority {
    pem: String,
    issuer: Issuer<'static, KeyPair>,
}

/// A certificate and its key, as PEM texts.
pub(crate) struct Identity {
    pub(crate) certificate: String,
    pub(crate) key: String,
}

impl Authority {
    pub(crate) fn new() -> io::Result<Self> {
        let make = || {
            let mut authority = CertificateParams::new(Vec::new())?;
            authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
            authority.key_usages = vec![KeyUsagePurpose::KeyCertSign];
            let key = KeyPair::generate()?;
            let pem = authority.self_signed(&key)?.pem();
            Ok(Self { pem, issuer: Issuer::new(authority, key) })
        };
        make().map_err(invalid)
    }

    /// What clients of the servers must trust, and servers of the clients.
    pub(crate) fn pem(&self) -> &str {
        &self.pem
    }

    /// Writes a certificate for `127.0.0.1` and `localhost`, and the authority beside it.
    pub(crate) fn certify_loopback(&self, directory: &Path) -> io::Result<Certificate> {
        let names = ["127.0.0.1", "localhost"].map(str::to_owned);
        let server = self.sign(&CertificateParams::new(names).map_err(invalid)?)?;
        let files = Certificate {
            authority: directory.join("ca.pem"),
            certificate: directory.join("server.pem"),
            key: directory.join("server-key.pem"),
        };
        fs::write(&files.authority, &self.pem)?;
        fs::write(&files.certificate, server.certificate)?;
        fs::write(&files.key, server.key)?;
        Ok(files)
    }

    /// A certificate that tells a server who its client is, and of which group.
    pub(crate) fn certify_user(&self, name: &str, group: Option<&str>) -> io::Result<Identity> {
        let mut user = CertificateParams::new(Vec::new()).map_err(invalid)?;
        user.distinguished_name.push(DnType::CommonName, name);
        if let Some(group) = group {
            user.distinguished_name.push(DnType::OrganizationName, group);
        }
        user.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        self.sign(&user)
    }

    fn sign(&self, subject: &CertificateParams) -> io::Result<Identity> {
        let key = KeyPair::generate().map_err(invalid)?;
        let certificate = subject.signed_by(&key, &self.issuer).map_err(invalid)?;
        Ok(Identity { certificate: certificate.pem(), key: key.serialize_pem() })
    }
}

fn invalid(error: rcgen::Error) -> io::Error {
    io::Error::other(error)
}
