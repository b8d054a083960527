//! What went wrong on the way to the server or back.

use std::{error::Error as StdError, io};

use hyper_util::client::legacy;
use rustls::CertificateError;

use crate::{ConfigError, Error};

/// Why there is no answer, or only a part of one.
#[derive(Debug)]
pub(crate) enum Fault {
    /// There are no credentials.
    Config(ConfigError),
    Request(legacy::Error),
    Body(hyper::Error),
    Compression(io::Error),
}

impl From<ConfigError> for Fault {
    fn from(error: ConfigError) -> Self {
        Self::Config(error)
    }
}

/// Classifies a fault for callers.
pub(crate) fn classify(address: &str, fault: Fault) -> Error {
    match fault {
        Fault::Config(error) => error.into(),
        Fault::Request(error) => of_chain(address, &error),
        Fault::Body(error) => of_chain(address, &error),
        Fault::Compression(error) => of_chain(address, &error),
    }
}

fn of_chain(address: &str, error: &(dyn StdError + 'static)) -> Error {
    let mut unsent = false;
    let mut reason = error.to_string();
    let mut current = Some(error);
    while let Some(error) = current {
        reason = error.to_string();
        match error.downcast_ref() {
            Some(rustls::Error::InvalidCertificate(problem)) => {
                let reason = certificate_problem(problem);
                return Error::Untrusted { address: address.to_owned(), reason };
            }
            Some(rustls::Error::InvalidMessage(_)) => {
                let reason = "it does not speak TLS".to_owned();
                return Error::Unreachable { address: address.to_owned(), reason };
            }
            _ => {}
        }
        unsent |= error.downcast_ref().is_some_and(legacy::Error::is_connect);
        current = cause(error);
    }
    let address = address.to_owned();
    if unsent {
        Error::Unreachable { address, reason }
    } else {
        Error::Interrupted { address, reason }
    }
}

fn certificate_problem(problem: &CertificateError) -> String {
    match problem {
        CertificateError::UnknownIssuer => "its issuer is not known".to_owned(),
        CertificateError::BadSignature => "its issuer has not signed it".to_owned(),
        CertificateError::Expired => "it has expired".to_owned(),
        CertificateError::NotValidYet => "it is not valid yet".to_owned(),
        problem => problem.to_string(),
    }
}

/// An I/O error that wraps another error does not name it as its source.
fn cause<'a>(error: &'a (dyn StdError + 'static)) -> Option<&'a (dyn StdError + 'static)> {
    match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
        Some(wrapped) => Some(wrapped),
        None => error.source(),
    }
}
