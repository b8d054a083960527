//! What holds for all configurations and all sets.

use flumen_fields::FieldSet;
use proptest::{collection, option, prelude::*, sample};
use serde_json::{Value, json};

use crate::subject::Subject;

/// A spec of the widget.
fn spec() -> impl Strategy<Value = Value> {
    let word = || sample::select(vec!["", "a", "b", "a<b", "ü"]);
    let number = || sample::select(vec![json!(0), json!(1), json!(10), json!(1.5)]);
    let item =
        (sample::select(vec!["a", "b", "c"]), option::of(number())).prop_map(|(name, value)| {
            match value {
                Some(value) => json!({"name": name, "value": value}),
                None => json!({"name": name}),
            }
        });
    let any = number().boxed().prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            collection::btree_map("[pq]", inner, 0..3).prop_map(|map| json!(map)),
            Just(Value::Null),
        ]
    });
    let strings = || collection::btree_map("[a-c]", word(), 0..3);
    let fields = (
        option::of(collection::vec(item, 0..4).prop_map(distinct)),
        option::of(collection::btree_set(word(), 0..4)),
        option::of(strings()),
        option::of(strings()),
        option::of(number()),
        option::of(any.clone()),
        option::of(any),
    );
    fields.prop_map(|(items, tags, labels, whole, size, any, raw)| {
        let whole = whole.map(|mut map| {
            map.remove("c");
            map
        });
        let all = json!({"items": items, "tags": tags, "labels": labels, "whole": whole,
            "size": size, "any": any, "raw": raw});
        let Value::Object(mut all) = all else { unreachable!("it is an object") };
        all.retain(|_, value| !value.is_null());
        Value::Object(all)
    })
}

fn distinct(items: Vec<Value>) -> Vec<Value> {
    let mut kept: Vec<Value> = Vec::new();
    for item in items {
        if kept.iter().all(|other| other["name"] != item["name"]) {
            kept.push(item);
        }
    }
    kept
}

/// The set of what somebody owns who sends this spec.
fn owned(spec: &Value) -> FieldSet {
    let mut object = Subject::widget();
    object.apply("alpha", json!({"spec": spec}));
    object.managed().first().map_or_else(FieldSet::new, |entry| {
        FieldSet::from_fields_v1(&entry["fieldsV1"]).expect("what is written can be read")
    })
}

proptest! {
    #[test]
    fn applying_twice_is_applying_once(first in spec(), second in spec()) {
        let mut object = Subject::widget();
        object.apply("alpha", json!({"spec": first}));
        object.force("beta", json!({"spec": &second}));
        let before = object.live.clone();
        object.apply("beta", json!({"spec": second}));
        prop_assert_eq!(&object.live, &before);
    }

    #[test]
    fn the_last_configuration_is_in_the_object(first in spec(), second in spec()) {
        let mut object = Subject::widget();
        object.apply("alpha", json!({"spec": first}));
        object.apply("alpha", json!({"spec": &second}));
        let mut alone = Subject::widget();
        alone.apply("alpha", json!({"spec": second}));
        prop_assert_eq!(object.stored(), alone.stored());
    }

    #[test]
    fn who_applies_nothing_leaves_what_others_own(first in spec(), second in spec()) {
        let mut object = Subject::widget();
        object.apply("alpha", json!({"spec": first}));
        let Ok(()) = object.try_apply("beta", json!({"spec": second}), false) else { return Ok(()) };
        object.apply("beta", json!({}));
        prop_assert!(object.entries().iter().all(|entry| !entry.starts_with("beta")));
    }

    #[test]
    fn sets_obey_the_laws(a in spec(), b in spec(), c in spec()) {
        let (a, b, c) = (owned(&a), owned(&b), owned(&c));
        prop_assert_eq!(a.union(&b), b.union(&a));
        prop_assert_eq!(a.intersection(&b), b.intersection(&a));
        prop_assert_eq!(a.union(&b).union(&c), a.union(&b.union(&c)));
        prop_assert_eq!(
            a.intersection(&b.union(&c)),
            a.intersection(&b).union(&a.intersection(&c))
        );
        prop_assert!(a.clone().difference(&b).intersection(&b).is_empty());
        prop_assert_eq!(a.union(&b).difference(&b), a.clone().difference(&b));
        prop_assert!(a.is_subset(&a.union(&b)));
        prop_assert_eq!(a.is_subset(&b), a.clone().difference(&b).is_empty());
        prop_assert!(a.clone().without_below(&b).is_subset(&a.clone().difference(&b)));
        prop_assert_eq!(a.clone().difference(&b).union(&a.intersection(&b)), a);
    }

    #[test]
    fn fields_are_read_as_they_were_written(spec in spec()) {
        let set = owned(&spec);
        prop_assert_eq!(FieldSet::from_fields_v1(&set.to_fields_v1()), Ok(set));
    }
}
