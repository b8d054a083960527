//! What a file or an inline text holds.

use std::sync::Arc;

use flumen_yaml::Text;

/// Content that is in memory once, whoever shares it: the trees that are read from a text are slices of it.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    Text(Text),
    /// Not UTF-8.
    Bytes(Arc<[u8]>),
}

impl Content {
    pub(crate) fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Text(text) => text.as_bytes(),
            Self::Bytes(bytes) => bytes,
        }
    }

    pub(crate) fn as_str(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Bytes(_) => None,
        }
    }

    /// As text for the YAML reader; see [`flumen_yaml::decode`].
    pub(crate) fn decode(&self) -> Result<Text, flumen_yaml::Error> {
        match self {
            Self::Text(text) => flumen_yaml::decode_text(text),
            Self::Bytes(bytes) => flumen_yaml::decode(bytes),
        }
    }
}

impl From<&[u8]> for Content {
    fn from(bytes: &[u8]) -> Self {
        match std::str::from_utf8(bytes) {
            Ok(text) => Self::Text(Text::from(text)),
            Err(_) => Self::Bytes(Arc::from(bytes)),
        }
    }
}

impl From<&Text> for Content {
    fn from(text: &Text) -> Self {
        Self::Text(text.clone())
    }
}
