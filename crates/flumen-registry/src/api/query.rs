//! What follows the question mark.

use url::form_urlencoded;

/// The parameters that any endpoint reads; the first of each name counts.
#[derive(Debug, Default)]
pub(super) struct Query {
    pub(super) digest: Option<String>,
    pub(super) mount: Option<String>,
    pub(super) from: Option<String>,
    pub(super) artifact_type: Option<String>,
    pub(super) n: Option<String>,
    pub(super) last: Option<String>,
}

impl Query {
    pub(super) fn parse(text: Option<&str>) -> Self {
        let mut query = Self::default();
        for (name, value) in form_urlencoded::parse(text.unwrap_or_default().as_bytes()) {
            let field = match &*name {
                "digest" => &mut query.digest,
                "mount" => &mut query.mount,
                "from" => &mut query.from,
                "artifactType" => &mut query.artifact_type,
                "n" => &mut query.n,
                "last" => &mut query.last,
                _ => continue,
            };
            field.get_or_insert_with(|| value.into_owned());
        }
        query
    }
}
