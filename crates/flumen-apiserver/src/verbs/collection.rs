//! Deletes all objects that are selected.

use std::sync::Arc;

use serde_json::json;

use super::{
    Request,
    delete::{self, DeleteOptions},
    list,
};
use crate::{Answer, ApiError, Payload, Reason, meta, rules, storage};

pub(crate) async fn delete_collection(request: &Request<'_>) -> Result<Answer, ApiError> {
    let options = DeleteOptions::of(request)?;
    delete::warn_of_orphans(request, &options);
    let listed = list::select(request).await?;
    for entry in &listed.items {
        let item = storage::decode(entry)?;
        match delete::remove(request, meta::name(&item), &options).await {
            Err(error) if error.reason() == Some(Reason::NotFound) => {}
            Err(error) => return Err(error),
            Ok(_) => {}
        }
    }
    let resource = &request.resource;
    let mut metadata = json!({ "resourceVersion": listed.revision.to_string() });
    if rules::patch_type(resource).is_none() {
        metadata["continue"] = "".into();
    }
    let payload = Payload::List { resource: Arc::clone(resource), metadata, items: listed.items };
    Ok(Answer::new(200, payload))
}
