//! What the things of a component are called on a cluster.

use flumen_apply::Owner;
use flumen_oci::Digest;

use crate::install::Install;

/// The manager of fields that components apply.
const MANAGER: &str = "flumen";
/// The prefix of labels and annotations.
const GROUP: &str = "flumen.dev";
/// Labels that tell whose an object is.
pub(super) const INSTALL_LABEL: &str = "flumen.dev/install";
pub(super) const COMPONENT_LABEL: &str = "flumen.dev/component";

/// Names of inventories are values of labels too, and have something before them.
const LONGEST: usize = 59;

/// Who applies the objects of a component.
pub(super) fn owner(install: &Install, component: &str) -> Owner {
    Owner {
        manager: MANAGER.to_owned(),
        group: GROUP.to_owned(),
        name: inventory_name(&install.id, component),
        namespace: install.cluster.namespace.clone(),
    }
}

/// A name that Kubernetes takes, and that no other component of any install has.
fn inventory_name(install: &str, component: &str) -> String {
    let name = format!("{install}.{component}");
    if [install, component].iter().all(|part| is_dns_label(part)) && name.len() <= LONGEST {
        return name;
    }
    let hash = Digest::of(name.as_bytes());
    let slug =
        |part: &str| part.to_ascii_lowercase().replace('_', "-").trim_end_matches('-').to_owned();
    let readable = format!("{}.{}", slug(install), slug(component));
    let room = LONGEST - hash.short().len() - 1;
    let readable = readable.get(..room).unwrap_or(&readable).trim_end_matches(['-', '.']);
    format!("{readable}-{}", hash.short())
}

/// What a label may say about a name.
pub(super) fn label_value(name: &str) -> &str {
    name.trim_end_matches(['-', '_'])
}

fn is_dns_label(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
        && !text.ends_with('-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_names_stay_readable() {
        assert_eq!(inventory_name("prod", "web-api"), "prod.web-api");
        assert_ne!(inventory_name("a-b", "c"), inventory_name("a", "b-c"));
    }

    #[test]
    fn other_names_are_made_fit_and_stay_apart() {
        let long = "x".repeat(63);
        let names = [
            ("Prod", "web"),
            ("prod-", "web"),
            ("prod", "my_web"),
            ("prod", "my-web_"),
            (&*long, &*long),
        ];
        let mut seen = std::collections::BTreeSet::from([inventory_name("prod", "web")]);
        for (install, component) in names {
            let name = inventory_name(install, component);
            assert!(name.len() <= LONGEST, "{name}");
            assert!(name.split('.').all(is_dns_label), "{name}");
            assert!(seen.insert(name), "{install} {component}");
        }
    }
}
