//! `IAMPolicyGenerator`: a service account that acts as one of a cloud provider.

use std::sync::Arc;

use flumen_object::Origin;
use flumen_yaml::{Budget, Pos, Text};

use crate::{
    error::{Error, Result},
    resmap::ResMap,
    resource::Resource,
    transform::Scene,
};

#[derive(Clone, Debug, Default)]
pub(crate) struct IamPolicyArgs {
    pub(crate) cloud: Text,
    /// Name and namespace of the account in the cluster.
    pub(crate) service_name: Text,
    pub(crate) service_namespace: Text,
    /// Name and project of the account at the provider.
    pub(crate) account_name: Text,
    pub(crate) project_id: Text,
    pub(crate) pos: Pos,
}

pub(crate) fn iam_policy(args: &IamPolicyArgs, scene: &Scene<'_>) -> Result<ResMap> {
    if args.cloud != *"gke" {
        return Err(Error::new(format!("cloud provider {} not supported yet", args.cloud)));
    }
    // Read from text because kustomize does: a name that looks like a number becomes one.
    let mut text = format!(
        "apiVersion: v1\nkind: ServiceAccount\nmetadata:\n  annotations:\n    \
         iam.gke.io/gcp-service-account: {}@{}.iam.gserviceaccount.com\n  name: {}\n",
        args.account_name, args.project_id, args.service_name
    );
    if !args.service_namespace.is_empty() {
        text.push_str("\n  namespace: ");
        text.push_str(&args.service_namespace);
    }
    let node = flumen_yaml::read_resource(&Text::from(text), 1, &Budget::default())
        .map_err(|error| Error::new(format!("the generated manifest: {error}")))?;
    let origin = Origin { file: Some(Arc::clone(scene.file)), pos: args.pos, ..Origin::default() };
    let mut resources = ResMap::default();
    if let Some(node) = node {
        resources.append(Resource::new(node, origin), scene.schema)?;
    }
    Ok(resources)
}
