//! Requests to the controllers of objects: suspend, resume, reconcile now.

use flumen_kube::{Cluster as _, ObjectName, PatchType};
use flumen_yaml::{Entry, Node, Pos, Tag, Value};
use jiff::Timestamp;

use crate::{Error, Site};

/// Field manager of these requests.
const MANAGER: &str = "flumen";

/// The annotation that requests a reconciliation.
pub const REQUESTED_AT: &str = "reconcile.fluxcd.io/requestedAt";

impl Site {
    /// Suspends or resumes an object. A resumed object has no such field.
    pub async fn suspend(&self, object: ObjectName<'_>, is_suspended: bool) -> Result<(), Error> {
        let value = if is_suspended { Node::scalar("true", Tag::Bool) } else { Node::null() };
        self.merge(object, &map([Entry::new("spec", map([Entry::new("suspend", value)]))])).await
    }

    /// Sets annotations to the present time, which is how reconciliations are requested.
    pub async fn request(&self, object: ObjectName<'_>, annotations: &[&str]) -> Result<(), Error> {
        self.merge(object, &request_patch(annotations)).await
    }

    async fn merge(&self, object: ObjectName<'_>, body: &Node) -> Result<(), Error> {
        self.client().patch(object, PatchType::Merge, body, MANAGER).await?;
        Ok(())
    }
}

/// Returns the merge patch that sets annotations to the present time.
pub fn request_patch(annotations: &[&str]) -> Node {
    let now = Timestamp::now().to_string();
    let entries = annotations.iter().map(|name| Entry::new(*name, Node::string(now.as_str())));
    map([Entry::new("metadata", map([Entry::new("annotations", map(entries))]))])
}

fn map(entries: impl IntoIterator<Item = Entry>) -> Node {
    Node::new(Pos::default(), Value::Map(entries.into_iter().collect::<Vec<_>>().into()))
}
