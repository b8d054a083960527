//! The token of the user who may do everything.

use std::{fs, io};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};

use crate::{Error, Home};

/// The token of a directory; made when it is asked for first.
pub(crate) fn of(home: &Home) -> Result<String, Error> {
    let path = home.token();
    match fs::read_to_string(&path) {
        Ok(token) => Ok(token.trim().to_owned()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let token = random().map_err(|source| Error::Write { path: path.clone(), source })?;
            home.write(&path, token.as_bytes())?;
            Ok(token)
        }
        Err(source) => Err(Error::Read { path, source }),
    }
}

/// 256 bits that nobody can guess.
pub(crate) fn random() -> io::Result<String> {
    let mut bytes = [0; 32];
    aws_lc_rs::rand::fill(&mut bytes)
        .map_err(|_| io::Error::other("the system has no random numbers"))?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}
