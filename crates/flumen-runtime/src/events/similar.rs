//! Many events that differ in their words alone become one.
//!
//! The rule is that of every controller that posts by Kubernetes' own library: from the tenth different message on
//! about one object, for one reason and within ten minutes, one event has the latest of them.

use std::collections::BTreeSet;

use clru::CLruCache;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::kubernetes::REMEMBERED;

/// As many different messages are one event.
const COMBINED_FROM: usize = 10;
/// Silence after which counting begins anew.
const WITHIN: SignedDuration = SignedDuration::from_mins(10);

/// What events that are alike are about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Subject {
    uid: String,
    kind: String,
    reason: String,
}

/// What makes two events the same, so that the second is only counted.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct EventKey {
    subject: Subject,
    /// `None` for the one that stands for many.
    message: Option<String>,
}

/// The messages of late about each subject.
#[derive(Debug)]
pub(super) struct Similar(CLruCache<Subject, Recent>);

#[derive(Debug)]
struct Recent {
    messages: BTreeSet<String>,
    last: Timestamp,
}

impl Default for Similar {
    fn default() -> Self {
        Self(CLruCache::new(REMEMBERED))
    }
}

impl Similar {
    /// The event to post, which may stand for this and others, and what it is known by.
    pub(super) fn combine(&mut self, event: Value, now: Timestamp) -> (Value, EventKey) {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let subject = Subject {
            uid: text(&event["involvedObject"]["uid"]),
            kind: text(&event["type"]),
            reason: text(&event["reason"]),
        };
        let message = text(&event["message"]);
        let is_over = |recent: &Recent| now.duration_since(recent.last) > WITHIN;
        if self.0.peek(&subject).is_none_or(is_over) {
            self.0.put(subject.clone(), Recent { messages: BTreeSet::new(), last: now });
        }
        let is_combined = self.0.get_mut(&subject).is_some_and(|recent| {
            recent.last = now;
            recent.messages.insert(message.clone());
            let is_full = recent.messages.len() >= COMBINED_FROM;
            if is_full {
                // It stays so.
                recent.messages.remove(&message);
            }
            is_full
        });
        if !is_combined {
            return (event, EventKey { subject, message: Some(message) });
        }
        let mut combined = event;
        combined["message"] = json!(format!("(combined from similar events): {message}"));
        combined["metadata"]["annotations"] = json!({});
        (combined, EventKey { subject, message: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(reason: &str, message: &str) -> Value {
        json!({
            "metadata": {"annotations": {"a": "b"}},
            "involvedObject": {"uid": "u"},
            "type": "Normal",
            "reason": reason,
            "message": message,
        })
    }

    #[test]
    fn the_tenth_message_stands_for_those_that_follow() {
        let mut similar = Similar::default();
        let now = Timestamp::UNIX_EPOCH;
        let mut say = |reason: &str, number: u32, now| {
            similar.combine(event(reason, &format!("took {number} s")), now)
        };
        for number in 1..10 {
            let (posted, key) = say("Done", number, now);
            assert_eq!(posted["message"], format!("took {number} s"));
            assert_eq!(key, say("Done", number, now).1, "said again");
        }
        let (tenth, key) = say("Done", 10, now);
        assert_eq!(tenth["message"], "(combined from similar events): took 10 s");
        assert_eq!(tenth["metadata"]["annotations"], json!({}));
        let (eleventh, same) = say("Done", 11, now);
        assert_eq!(eleventh["message"], "(combined from similar events): took 11 s");
        assert_eq!(key, same);
        assert_eq!(say("Failed", 1, now).0["message"], "took 1 s", "for another reason");
        let later = now + WITHIN + SignedDuration::from_secs(1);
        assert_eq!(say("Done", 12, later).0["message"], "took 12 s", "after a while");
    }
}
