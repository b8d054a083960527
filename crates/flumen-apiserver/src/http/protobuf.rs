//! Answers in protobuf.

use super::negotiate::Encoding;
use crate::ApiError;

pub(crate) fn status(_error: &ApiError, _encoding: Encoding) -> Option<Vec<u8>> {
    None
}

pub(crate) fn object(_value: &serde_json::Value, _encoding: Encoding) -> Option<Vec<u8>> {
    None
}
