//! Pods are assigned to nodes.

use flumen_fields::{FieldError, Path};
use serde_json::{Value, json};

use super::{set_condition, success};
use crate::{
    Answer, ApiError, meta,
    storage::Stored,
    verbs::{
        Request,
        options::WriteOptions,
        write::{self, Update},
    },
};

/// Assigns a pod to a node.
pub(crate) async fn bind(
    request: &Request<'_>,
    name: &str,
    binding: &Value,
) -> Result<Answer, ApiError> {
    let options = WriteOptions::of(request.call)?;
    if meta::name(binding) != name {
        let why = "name in URL does not match name in Binding object";
        return Err(ApiError::bad_request(why));
    }
    let node = node(binding)?;
    if name.is_empty() {
        return Err(ApiError::bad_request("Name parameter required."));
    }
    let make = |live: Option<&Stored>| -> Result<Value, ApiError> {
        let live = live.ok_or_else(|| request.not_found(name))?;
        check_version(request, name, binding, live, options.dry_run)?;
        let mut pod = live.object.clone();
        check_free(name, &pod)?;
        pod["spec"]["nodeName"] = node.into();
        if let Some(status) = pod["status"].as_object_mut() {
            // It says where the pod might go, which is decided now.
            status.remove("nominatedNodeName");
        }
        for field in ["annotations", "labels"] {
            for (key, value) in binding["metadata"][field].as_object().into_iter().flatten() {
                pod["metadata"][field][key] = value.clone();
            }
        }
        set_condition(&mut pod, json!({ "type": "PodScheduled", "status": "True" }));
        // Nobody comes to own what a binding sets.
        Ok(pod)
    };
    let uid = Some(meta::uid(binding)).filter(|uid| !uid.is_empty());
    let update = Update {
        name,
        subresource: "binding",
        make: &make,
        creates: false,
        uid,
        options: &options,
    };
    write::update(request, &update).await?;
    Ok(success(request))
}

/// The node that a binding names.
fn node(binding: &Value) -> Result<&str, ApiError> {
    let (at, target) = (Path::new("target"), &binding["target"]);
    let text = |field: &str| target[field].as_str().unwrap_or_default();
    let (kind, name) = (text("kind"), text("name"));
    let mut errors = Vec::new();
    if !matches!(kind, "" | "Node") {
        errors.push(FieldError::not_supported(&at.child("kind"), kind, &["Node", "<empty>"]));
    }
    if name.is_empty() {
        errors.push(FieldError::required(&at.child("name"), ""));
    }
    let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
    match texts.as_slice() {
        [] => Ok(name),
        // The real server does not say that it is the client's fault.
        [one] => Err(ApiError::new(500, None, one.as_str())),
        several => Err(ApiError::new(500, None, format!("[{}]", several.join(", ")))),
    }
}

/// A binding may name the version of the pod that it is meant for.
fn check_version(
    request: &Request<'_>,
    name: &str,
    binding: &Value,
    live: &Stored,
    dry_run: bool,
) -> Result<(), ApiError> {
    let wanted = meta::resource_version(binding);
    let found = live.revision.to_string();
    if wanted.is_empty() || wanted == found {
        return Ok(());
    }
    let why = format!(
        "Precondition failed: ResourceVersion in precondition: {wanted}, ResourceVersion in object meta: {found}"
    );
    Err(write::precondition_failed(request, name, dry_run, &why))
}

fn check_free(name: &str, pod: &Value) -> Result<(), ApiError> {
    let present = pod["spec"]["nodeName"].as_str().unwrap_or_default();
    let is_gated = pod["spec"]["schedulingGates"].as_array().is_some_and(|list| !list.is_empty());
    let why = if meta::is_deleting(pod) {
        format!("pod {name} is being deleted, cannot be assigned to a host")
    } else if !present.is_empty() {
        format!("pod {name} is already assigned to node {present:?}")
    } else if is_gated {
        format!("pod {name} has non-empty .spec.schedulingGates")
    } else {
        return Ok(());
    };
    Err(ApiError::conflict("", "pods/binding", name, &why))
}
