//! Manifests that stand in the component: packed as they are, once every document is an object.

use flumen_build::check_documents;
use flumen_oci::Digest;

use super::{Context, Made, Provenance, Rendered, blocking};
use crate::{
    Result,
    cache::{Conditions, Key},
    plan::InlineManifest,
    template::without_placeholders,
};

pub(crate) async fn build(context: &Context<'_>, manifest: &InlineManifest) -> Result<Made> {
    let provenance = Provenance::default();
    let key = Key::new(&("inline", Digest::of(manifest.text.as_bytes())));
    if let Some(made) = context.reuse(&key, &provenance).await? {
        return Ok(made);
    }
    let InlineManifest { text, file, first_line } = manifest.clone();
    let yaml = blocking(move || {
        // Empty lines in front mean nothing in YAML, and make its lines those of the file.
        let lines_above = usize::try_from(first_line.saturating_sub(1)).unwrap_or(0);
        let readable = without_placeholders(&text);
        check_documents(format!("{}{readable}", "\n".repeat(lines_above)).as_bytes(), &file)?;
        Ok(text.into_bytes())
    })
    .await?;
    context.publish(&key, Rendered { yaml, provenance, conditions: Conditions::default() }).await
}
