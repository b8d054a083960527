//! Tokens that continue a list where a page ended.

use base64::{
    Engine,
    alphabet::URL_SAFE,
    engine::{GeneralPurpose, GeneralPurposeConfig, general_purpose::NO_PAD},
};
use flumen_store::Revision;
use serde::{Deserialize, Serialize};

use crate::ApiError;

/// The place of a page. Clients treat tokens as opaque.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Continuation {
    #[serde(rename = "v")]
    api_version: String,
    /// The version of the first page; -1 takes the present one.
    #[serde(rename = "rv")]
    revision: i64,
    /// The last key that was listed, below the prefix of the list.
    #[serde(rename = "start")]
    after: String,
}

const API_VERSION: &str = "meta.k8s.io/v1";
/// As lenient as Go with the last letter.
const LENIENT: GeneralPurposeConfig = NO_PAD.with_decode_allow_trailing_bits(true);
const BASE64: GeneralPurpose = GeneralPurpose::new(&URL_SAFE, LENIENT);

impl Continuation {
    pub(crate) fn new(revision: Revision, after: &str) -> Self {
        let revision = i64::try_from(revision).unwrap_or(-1);
        Self { api_version: API_VERSION.to_owned(), revision, after: after.to_owned() }
    }

    /// Goes on with what is there when it is used.
    pub(crate) fn inconsistent(after: &str) -> Self {
        Self { revision: -1, ..Self::new(0, after) }
    }

    pub(crate) fn encode(&self) -> String {
        // A struct of texts and numbers has no way to fail.
        BASE64.encode(serde_json::to_vec(self).unwrap_or_default())
    }

    pub(crate) fn decode(token: &str) -> Result<Self, ApiError> {
        let invalid = |why: String| {
            ApiError::bad_request(format!(
                "invalid continue token: continue key is not valid: {why}"
            ))
        };
        let bytes = BASE64.decode(token).map_err(|error| invalid(error.to_string()))?;
        let decoded: Self = serde_json::from_slice(&bytes).map_err(|error| {
            let fault = flumen_kinds::syntax_fault(&bytes);
            invalid(fault.unwrap_or_else(|| error.to_string()))
        })?;
        if decoded.api_version != API_VERSION {
            let why = "incorrect version".to_owned();
            return Err(invalid(why));
        }
        Ok(decoded)
    }

    pub(crate) fn revision(&self) -> Option<Revision> {
        Revision::try_from(self.revision).ok().filter(|revision| *revision > 0)
    }

    pub(crate) fn after(&self) -> &str {
        &self.after
    }
}
