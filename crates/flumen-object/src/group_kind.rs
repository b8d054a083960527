//! Kinds without their version.

use std::str::FromStr;

use flumen_yaml::Text;

use crate::Gvk;

/// A kind in all its versions.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupKind {
    pub group: Text,
    pub kind: Text,
}

impl GroupKind {
    /// Returns the kind of a version.
    pub fn of(gvk: &Gvk) -> Self {
        Self { group: gvk.group.clone(), kind: gvk.kind.clone() }
    }
}

/// Reads `group/Kind`, or `Kind` of the core group.
impl FromStr for GroupKind {
    type Err = GroupKindError;

    fn from_str(text: &str) -> Result<Self, GroupKindError> {
        let (group, kind) = text.rsplit_once('/').unwrap_or(("", text));
        if kind.is_empty() || group.contains('/') {
            return Err(GroupKindError);
        }
        Ok(Self { group: group.into(), kind: kind.into() })
    }
}

/// Error for a text that names no kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a kind is written as `group/Kind`")]
pub struct GroupKindError;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_written_with_their_group() {
        let kind: GroupKind = "apps/Deployment".parse().expect("a kind");
        let gvk = Gvk::new(&"apps/v1".into(), "Deployment".into());
        assert_eq!(kind, GroupKind::of(&gvk));
        for wrong in ["", "apps/", "apps/v1/Deployment"] {
            assert_eq!(wrong.parse::<GroupKind>(), Err(GroupKindError), "{wrong}");
        }
    }
}
