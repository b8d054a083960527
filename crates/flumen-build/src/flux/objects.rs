//! What is done with objects between the build and the apply.

use flumen_api::CommonMetadata;
use flumen_object::{set_annotation, set_label};
use flumen_yaml::Node;

/// Labels that tell whose an object is; only objects that bear them are pruned.
const OWNER_LABELS: [&str; 2] =
    ["kustomize.toolkit.fluxcd.io/name", "kustomize.toolkit.fluxcd.io/namespace"];

/// Gives an object the labels and annotations that all are to have, over its own.
///
/// The labels of the owner are not among them: an object that names another owner would never be
/// pruned.
pub fn set_common_metadata(object: &mut Node, metadata: &CommonMetadata) {
    for (key, value) in &metadata.labels {
        if !OWNER_LABELS.contains(&key.as_str()) {
            set_label(object, key.as_str(), value);
        }
    }
    for (key, value) in &metadata.annotations {
        set_annotation(object, key.as_str(), value);
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use flumen_object::ObjectSet;
    use flumen_yaml::to_json;

    use super::*;
    use crate::objects_of;

    fn objects(text: &str) -> ObjectSet {
        objects_of(text.as_bytes(), Path::new("objects.yaml")).expect("YAML")
    }

    #[test]
    fn common_metadata_wins_but_over_the_owner() {
        let objects = objects(
            "apiVersion: v1\nkind: A\nmetadata:\n  name: a\n  labels: {team: x, \
             kustomize.toolkit.fluxcd.io/name: mine}\n",
        );
        let mut object = objects.into_iter().next().expect("an object").node;
        let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        let metadata = CommonMetadata {
            labels: [
                pair("team", "y"),
                pair(OWNER_LABELS[0], "theirs"),
                pair(OWNER_LABELS[1], "elsewhere"),
            ]
            .into(),
            annotations: [pair("note", "n")].into(),
        };
        set_common_metadata(&mut object, &metadata);
        let shown = object.get("metadata").map(|node| to_json(node).expect("JSON"));
        let labels = r#"{"kustomize.toolkit.fluxcd.io/name":"mine","team":"y"}"#;
        let expected = format!(r#"{{"annotations":{{"note":"n"}},"labels":{labels},"name":"a"}}"#);
        assert_eq!(shown, Some(expected));
    }
}
