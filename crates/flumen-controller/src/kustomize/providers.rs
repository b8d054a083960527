//! Which Kustomization delivers which kind, and who waits for one.
//!
//! Builds tell exactly; before the first build of a process the inventories do, which know definitions by their names
//! alone.

use std::collections::{BTreeSet, HashMap};

use flumen_api::Kustomization;
use flumen_object::{GroupKind, Gvk, ObjectSet};
use flumen_runtime::{Name, defined_kind};
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::watch;

/// How the inventory ends the id of a definition.
const DEFINITION: &str = "_apiextensions.k8s.io_CustomResourceDefinition";

#[derive(Debug)]
pub(super) struct Providers {
    state: Mutex<State>,
    /// Notified when other kinds are delivered than before.
    changed: watch::Sender<()>,
}

impl Default for Providers {
    fn default() -> Self {
        Self { state: Mutex::default(), changed: watch::Sender::new(()) }
    }
}

#[derive(Debug, Default)]
struct State {
    of_builds: Deliveries<GroupKind>,
    /// By the name of the definition, such as `widgets.example.com`.
    of_inventories: Deliveries<String>,
    /// What objects waited for when their pass gave up.
    missed: HashMap<Name, BTreeSet<GroupKind>>,
}

/// What each one delivers, both ways round.
#[derive(Debug)]
struct Deliveries<K> {
    by: HashMap<Name, BTreeSet<K>>,
    of: HashMap<K, BTreeSet<Name>>,
}

impl<K> Default for Deliveries<K> {
    fn default() -> Self {
        Self { by: HashMap::new(), of: HashMap::new() }
    }
}

impl<K: Clone + Eq + std::hash::Hash + Ord> Deliveries<K> {
    /// Returns whether that is a change.
    fn set(&mut self, name: &Name, delivered: BTreeSet<K>) -> bool {
        let before = self.by.remove(name).unwrap_or_default();
        for gone in before.difference(&delivered) {
            if let Some(names) = self.of.get_mut(gone) {
                names.remove(name);
                if names.is_empty() {
                    self.of.remove(gone);
                }
            }
        }
        for new in delivered.difference(&before) {
            self.of.entry(new.clone()).or_default().insert(name.clone());
        }
        let has_changed = delivered != before;
        if !delivered.is_empty() {
            self.by.insert(name.clone(), delivered);
        }
        has_changed
    }
}

impl Providers {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// Notes what a build delivers.
    pub(super) fn built(&self, name: &Name, objects: &ObjectSet) {
        let definitions = objects.iter().filter(|object| {
            let kind = object.node.get("kind").and_then(flumen_yaml::Node::as_str);
            kind == Some("CustomResourceDefinition")
        });
        let kinds = definitions.filter_map(|object| defined_kind(&object.node)).collect();
        if self.state().of_builds.set(name, kinds) {
            self.changed.send_replace(());
        }
    }

    /// Notes what the inventory of a Kustomization names; nothing when it is gone.
    pub(super) fn recorded(&self, name: &Name, object: Option<&Kustomization>) {
        let inventory = object.and_then(|object| object.status.inventory.as_ref());
        let entries = inventory.into_iter().flat_map(|inventory| &inventory.entries);
        let names = entries.filter_map(|entry| entry.id.strip_suffix(DEFINITION));
        let names = names.map(|name| name.trim_start_matches('_').to_owned()).collect();
        let mut state = self.state();
        let mut has_changed = state.of_inventories.set(name, names);
        if object.is_none() {
            has_changed |= state.of_builds.set(name, BTreeSet::new());
            state.missed.remove(name);
        }
        drop(state);
        if has_changed {
            self.changed.send_replace(());
        }
    }

    /// Returns a receiver of changes in what is delivered.
    pub(super) fn changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    /// Says what `name` waits for and who delivers it.
    pub(super) fn describe<'k>(&self, name: &Name, kinds: impl Iterator<Item = &'k Gvk>) -> String {
        let state = self.state();
        let kinds: BTreeSet<&Gvk> = kinds.collect();
        let parts = kinds.into_iter().map(|gvk| {
            let known = state.of_builds.of.get(&GroupKind::of(gvk));
            let known = known.or_else(|| state.of_inventories.of.get(&definition_name(gvk)));
            let others: Vec<String> = known
                .into_iter()
                .flatten()
                .filter(|other| *other != name)
                .map(|(namespace, name)| format!("{namespace}/{name}"))
                .collect();
            let by = match (others.as_slice(), known) {
                ([], None) => "no Kustomization delivers".to_owned(),
                ([], Some(_)) => "it delivers itself".to_owned(),
                ([one], _) => format!("Kustomization {one} delivers"),
                (many, _) => format!("Kustomizations {} deliver", many.join(", ")),
            };
            format!("kind {} ({}), which {by}", gvk.kind, gvk.api_version())
        });
        format!("waiting for {}", parts.collect::<Vec<_>>().join("; "))
    }

    /// Remembers what a pass has given up waiting for; nothing when one begins.
    pub(super) fn miss(&self, name: &Name, kinds: BTreeSet<GroupKind>) {
        let mut state = self.state();
        if kinds.is_empty() {
            state.missed.remove(name);
        } else {
            state.missed.insert(name.clone(), kinds);
        }
    }

    /// Those whose last pass has given up waiting for a kind.
    pub(super) fn missing(&self, kind: &GroupKind) -> Vec<Name> {
        let state = self.state();
        let missing = state.missed.iter().filter(|(_, kinds)| kinds.contains(kind));
        let mut names: Vec<Name> = missing.map(|(name, _)| name.clone()).collect();
        names.sort();
        names
    }
}

/// What the definition of a kind is called, if its author named things as almost all do.
fn definition_name(gvk: &Gvk) -> String {
    let singular = gvk.kind.to_lowercase();
    let plural = match singular.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'i', 'o', 'u']) => format!("{stem}ies"),
        _ if singular.ends_with('s') || singular.ends_with('x') || singular.ends_with("ch") => {
            format!("{singular}es")
        }
        _ => format!("{singular}s"),
    };
    format!("{plural}.{}", gvk.group)
}

#[cfg(test)]
mod tests {
    use flumen_object::{Object, Origin};
    use flumen_yaml::{Budget, read};
    use serde_json::json;

    use super::*;

    fn name(name: &str) -> Name {
        ("infra".to_owned(), name.to_owned())
    }

    fn gvk(kind: &str) -> Gvk {
        Gvk::new(&"example.com/v1".into(), kind.into())
    }

    fn said(providers: &Providers, of: &str, kind: &str) -> String {
        providers.describe(&name(of), [&gvk(kind)].into_iter())
    }

    #[test]
    fn builds_tell_who_delivers_a_kind() {
        let providers = Providers::default();
        let text = "{kind: CustomResourceDefinition, \
                    spec: {group: example.com, names: {kind: Widget, plural: odd}}}";
        let node = read(&text.into(), 1, &Budget::default()).expect("YAML").remove(0);
        let objects = [Object { node, origin: Origin::default() }].into_iter().collect();
        let nobody = "waiting for kind Widget (example.com/v1), which no Kustomization delivers";
        assert_eq!(said(&providers, "app", "Widget"), nobody);
        let mut changes = providers.changes();
        providers.built(&name("crds"), &objects);
        assert!(changes.has_changed().expect("a sender"));
        changes.mark_unchanged();
        providers.built(&name("crds"), &objects);
        assert!(!changes.has_changed().expect("a sender"), "nothing is new");
        let by_name =
            "waiting for kind Widget (example.com/v1), which Kustomization infra/crds delivers";
        assert_eq!(said(&providers, "app", "Widget"), by_name);
        assert!(said(&providers, "crds", "Widget").ends_with("which it delivers itself"));
        providers.built(&name("more"), &objects);
        let many = "which Kustomizations infra/crds, infra/more deliver";
        assert!(said(&providers, "app", "Widget").ends_with(many));
        providers.recorded(&name("more"), None);
        providers.built(&name("crds"), &ObjectSet::default());
        assert_eq!(said(&providers, "app", "Widget"), nobody);
    }

    #[test]
    fn inventories_tell_who_delivers_a_kind_before_there_is_a_build() {
        let providers = Providers::default();
        let names = ["widgets.example.com", "policies.example.com", "gatewayclasses.example.com"];
        let entries = names.map(|name| json!({"id": format!("_{name}{DEFINITION}"), "v": "v1"}));
        let object = json!({
            "apiVersion": "kustomize.toolkit.fluxcd.io/v1",
            "kind": "Kustomization",
            "metadata": {"name": "crds", "namespace": "infra"},
            "spec": {"interval": "1m", "prune": true, "sourceRef": {"kind": "OCIRepository", "name": "s"}},
            "status": {"inventory": {"entries": entries}},
        });
        let object: Kustomization = flumen_api::read(&object).expect("a Kustomization");
        providers.recorded(&name("crds"), Some(&object));
        for kind in ["Widget", "Policy", "GatewayClass"] {
            let text = said(&providers, "app", kind);
            assert!(text.ends_with("which Kustomization infra/crds delivers"), "{text}");
        }
        assert!(said(&providers, "app", "Gadget").ends_with("no Kustomization delivers"));
    }

    #[test]
    fn who_gave_up_is_known_until_the_next_pass() {
        let providers = Providers::default();
        let kind = GroupKind::of(&gvk("Widget"));
        providers.miss(&name("app"), [kind.clone()].into());
        assert_eq!(providers.missing(&kind), [name("app")]);
        assert!(providers.missing(&GroupKind::of(&gvk("Gadget"))).is_empty());
        providers.miss(&name("app"), BTreeSet::new());
        assert!(providers.missing(&kind).is_empty());
    }
}
