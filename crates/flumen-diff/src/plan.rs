//! Plans as JSON, and packed for transport.

use std::{
    collections::BTreeMap,
    io::{self, Read as _, Write as _},
};

use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE},
};
use flate2::{Compression, read::GzDecoder, write::GzEncoder};
use flumen_yaml::Node;
use serde::{Deserialize, Serialize};

use crate::{
    change::{Change, ChangeType, PlanOperation, null_is_default},
    shown::{shown, yaml},
};

/// What a packed plan may grow to: twice the lines of 10,000 large objects.
const LARGEST: u64 = 512 << 20;

/// A plan as approval tools read it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PlanDocument {
    pub op: PlanOperation,
    /// The changes again, as text for people.
    pub plan: String,
    #[serde(deserialize_with = "null_is_default")]
    pub k8s_content_diff: Vec<Change>,
    /// The objects that are applied, as YAML.
    pub dry_run_output: String,
}

#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    #[error("the plan is not valid JSON: {0}")]
    Json(serde_json::Error),
    #[error("the plan is not valid base64")]
    Base64,
    #[error("the plan cannot be unpacked: {0}")]
    Gzip(io::Error),
    #[error("the plan is larger than {largest} bytes")]
    TooLarge { largest: u64 },
}

impl PlanDocument {
    /// A plan of changes; `candidates` are the objects as they would be sent. Values of Secrets are
    /// masked.
    pub fn new<'a>(
        op: PlanOperation,
        changes: Vec<Change>,
        candidates: impl IntoIterator<Item = &'a Node>,
    ) -> Result<Self, PlanError> {
        let key = match op {
            PlanOperation::Apply => "k8s_content_diff",
            PlanOperation::Delete => "diff",
        };
        let text = serde_json::to_string_pretty(&BTreeMap::from([(key, &changes)]));
        let documents = candidates
            .into_iter()
            .filter_map(|candidate| shown(None, Some(candidate)).1)
            .map(|candidate| yaml(&candidate));
        Ok(Self {
            op,
            plan: text.map_err(PlanError::Json)?,
            dry_run_output: documents.collect::<Vec<_>>().join("---\n"),
            k8s_content_diff: changes,
        })
    }

    /// Whether the plan changes nothing.
    pub fn is_noop(&self) -> bool {
        self.k8s_content_diff.iter().all(|change| change.change_type == ChangeType::Unchanged)
    }

    pub fn from_json(text: &str) -> Result<Self, PlanError> {
        serde_json::from_str(text).map_err(PlanError::Json)
    }

    pub fn to_json(&self) -> Result<String, PlanError> {
        serde_json::to_string(self).map_err(PlanError::Json)
    }

    /// Packs the plan: gzip, then base64 that may stand in a URL.
    pub fn pack(&self) -> Result<String, PlanError> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(self.to_json()?.as_bytes()).map_err(PlanError::Gzip)?;
        Ok(URL_SAFE.encode(encoder.finish().map_err(PlanError::Gzip)?))
    }

    /// Unpacks a plan. Both alphabets of base64 are read, with padding or without.
    pub fn unpack(text: &str) -> Result<Self, PlanError> {
        Self::unpack_within(text, LARGEST)
    }

    fn unpack_within(text: &str, largest: u64) -> Result<Self, PlanError> {
        let text = text.trim().trim_end_matches('=').replace('-', "+").replace('_', "/");
        let packed = STANDARD_NO_PAD.decode(text).map_err(|_| PlanError::Base64)?;
        let mut json = Vec::new();
        let mut decoder = GzDecoder::new(packed.as_slice()).take(largest + 1);
        decoder.read_to_end(&mut json).map_err(PlanError::Gzip)?;
        if json.len() as u64 > largest {
            return Err(PlanError::TooLarge { largest });
        }
        serde_json::from_slice(&json).map_err(PlanError::Json)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_unpacks_to_more_than_is_allowed_is_refused() {
        let plan = PlanDocument { plan: " ".repeat(1 << 20), ..PlanDocument::default() };
        let packed = plan.pack().expect("packs");
        assert!(packed.len() < 4 << 10, "{}", packed.len());
        let length = plan.to_json().expect("JSON").len() as u64;
        assert_eq!(PlanDocument::unpack_within(&packed, length).expect("a plan"), plan);
        let error = PlanDocument::unpack_within(&packed, length - 1).expect_err("too large");
        assert!(matches!(error, PlanError::TooLarge { .. }), "{error}");
    }
}
