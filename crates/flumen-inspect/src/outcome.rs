//! Messages about objects after their reconciliation.

use flumen_yaml::Node;

use crate::{
    kinds::{Kind, Outcome},
    object::{Conditions, is_static, release_revision, text_at},
};

/// Returns the message about an object after its reconciliation.
pub fn sentence(kind: &Kind, object: &Node) -> String {
    match kind.outcome {
        Outcome::Revision { .. } if is_static(kind, object) => ready_message(object).to_owned(),
        Outcome::Revision { done, field } => format!("{done} revision {}", text_at(object, field)),
        Outcome::ReleaseRevision => format!("applied revision {}", release_revision(object)),
        Outcome::Message => automation(object),
        Outcome::ImageReference => format!("selected ref {}", image_reference(object)),
        Outcome::Tags => {
            let tags = text_at(object, &["status", "lastScanResult", "tagCount"]);
            format!("scan fetched {tags} tags")
        }
        Outcome::Sentence(sentence) => sentence.to_owned(),
        Outcome::Nothing => String::new(),
    }
}

fn ready_message(object: &Node) -> &str {
    Conditions::of(object).ready().map_or("", |ready| text_at(ready, &["message"]))
}

fn automation(object: &Node) -> String {
    if let Some(ready) = Conditions::of(object).ready() {
        return text_at(ready, &["message"]).to_owned();
    }
    match text_at(object, &["status", "lastAutomationRunTime"]) {
        "" => "automation not yet run".to_owned(),
        time => format!("last run {time}"),
    }
}

fn image_reference(object: &Node) -> String {
    let field = |name: &str| text_at(object, &["status", "latestRef", name]);
    let digest = match field("digest") {
        "" => String::new(),
        digest => format!("@{digest}"),
    };
    format!("{}:{}{digest}", field("name"), field("tag"))
}
