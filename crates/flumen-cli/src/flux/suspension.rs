//! Pausing objects and letting them go on, which `suspend` and `resume` do alike.

use std::collections::BTreeSet;

use flumen_kube::{Cluster as _, ObjectName, PatchType, Resource};
use flumen_yaml::{Entry, Node, Pos, Tag, Value};

use super::{MANAGER, Site, object::name_of};
use crate::error::CommandError;

/// Names without those that were given before.
pub(crate) fn distinct(names: &[String]) -> impl Iterator<Item = &str> {
    let mut seen = BTreeSet::new();
    names.iter().map(String::as_str).filter(move |name| seen.insert(*name))
}

impl Site {
    /// Sets whether an object is suspended; one that is not has no such field.
    pub(crate) async fn suspend(
        &self,
        resource: &Resource,
        object: &Node,
        is_suspended: bool,
    ) -> Result<(), CommandError> {
        let map = |entry: Entry| Node::new(Pos::default(), Value::Map(vec![entry].into()));
        let value = if is_suspended { Node::scalar("true", Tag::Bool) } else { Node::null() };
        let body = map(Entry::new("spec", map(Entry::new("suspend", value))));
        let target = ObjectName { resource, namespace: &self.namespace, name: name_of(object) };
        let patched = self.client.patch(target, PatchType::Merge, &body, MANAGER).await;
        patched.map_err(CommandError::request)?;
        Ok(())
    }
}
