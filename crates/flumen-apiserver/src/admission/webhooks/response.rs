//! What webhooks answer.

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Map, Value, json};

use super::super::Result;
use crate::{ApiError, patch::JsonPatch};

const REVIEW: &str = "admission.k8s.io/v1, Kind=AdmissionReview";

/// A response that can be acted upon.
#[derive(Debug)]
pub(super) struct Response {
    pub warnings: Vec<String>,
    pub patch: Option<JsonPatch>,
    allowed: bool,
    status: Value,
}

impl Response {
    /// Reads the answer to a review of a version, or says what is wrong with it.
    pub(super) fn read(
        uid: &str,
        version: &str,
        mut answer: Value,
        mutating: bool,
    ) -> std::result::Result<Self, String> {
        let response = answer["response"].take();
        if !response.is_object() {
            return Err("webhook response was absent".to_owned());
        }
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let patch = text(&response["patch"]);
        // Older reviews were never looked at so closely.
        if version == "v1" {
            let found = text(&response["uid"]);
            if found != uid {
                return Err(format!("expected response.uid={uid:?}, got {found:?}"));
            }
            let (api_version, kind) = (text(&answer["apiVersion"]), text(&answer["kind"]));
            if api_version != "admission.k8s.io/v1" || kind != "AdmissionReview" {
                let (group, version) =
                    api_version.split_once('/').unwrap_or(("", api_version.as_str()));
                let found = format!("{group}/{version}, Kind={kind}");
                return Err(format!("expected webhook response of {REVIEW}, got {found}"));
            }
            check_patch(&patch, &response["patchType"], mutating)?;
        }
        let patch = match patch.as_str() {
            "" => None,
            patch if mutating => Some(read_patch(patch)?),
            _ => None,
        };
        let warnings = response["warnings"].as_array().into_iter().flatten();
        Ok(Self {
            warnings: warnings.filter_map(Value::as_str).map(str::to_owned).collect(),
            patch,
            allowed: response["allowed"] == true,
            status: response["status"].clone(),
        })
    }

    /// Refuses what the webhook does not allow, with the status that it gives.
    pub(super) fn allow(self, name: &str) -> Result<Self> {
        if self.allowed {
            return Ok(self);
        }
        let text = |field: &str| self.status[field].as_str().unwrap_or_default();
        let denied = format!("admission webhook {name:?} denied the request");
        let message = match (text("message"), text("reason")) {
            ("", "") => format!("{denied} without explanation"),
            ("", said) | (said, _) => format!("{denied}: {said}"),
        };
        let code = self.status["code"].as_u64().and_then(|code| u16::try_from(code).ok());
        let code = code.filter(|code| *code >= 400).unwrap_or(400);
        let mut status = json!({
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": message,
            "code": code,
        });
        if !text("reason").is_empty() {
            status["reason"] = text("reason").into();
        }
        if self.status["details"].is_object() {
            status["details"] = self.status["details"].clone();
        }
        Err(ApiError::handed_on(code, status))
    }
}

/// A patch and its type come together, and only where something can be changed.
fn check_patch(patch: &str, kind: &Value, mutating: bool) -> std::result::Result<(), String> {
    let why = match (patch.is_empty(), kind.as_str(), mutating) {
        (false, _, false) => "validating webhook may not return response.patch",
        (_, Some(_), false) => "validating webhook may not return response.patchType",
        (false, None, true) => "webhook returned response.patch but not response.patchType",
        (true, Some(_), true) => "webhook returned response.patchType but not response.patch",
        (false, Some("JSONPatch"), true) | (true, None, _) => return Ok(()),
        (false, Some(kind), true) => return Err(format!("unsupported patch type {kind:?}")),
    };
    Err(why.to_owned())
}

fn read_patch(patch: &str) -> std::result::Result<JsonPatch, String> {
    let undecodable =
        |why: String| format!("received undecodable patch in webhook response: {why}");
    let bytes = STANDARD.decode(patch).map_err(|error| undecodable(error.to_string()))?;
    let operations: Vec<Map<String, Value>> =
        serde_json::from_slice(&bytes).map_err(|error| undecodable(error.to_string()))?;
    Ok(JsonPatch::new(operations))
}

/// The refusal because a webhook failed.
pub(super) fn failed(name: &str, why: &str) -> ApiError {
    ApiError::internal(format!("failed calling webhook {name:?}: {why}"))
}
