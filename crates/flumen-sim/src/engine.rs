//! The loop that all controllers share.
//!
//! ```text
//! changes ─▶ World ─▶ who is concerned ─▶ queue of objects ─▶ decide (pure) ─▶ act ─▶ World
//! ```
//!
//! A rule looks at one object and the world around it and says what is to be done; it never waits and
//! never writes. It is asked again whenever something changes that concerns the object, so it needs
//! no memory, and a decision that is lost is taken again.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use flumen_apiserver::{Api, Change, Reason};
use futures_util::{StreamExt, stream};
use jiff::Timestamp;
use serde_json::Value;

use crate::{
    Settings,
    act::{Clients, Failure, Outcome},
    clock::later,
    concern,
    follow::Follower,
    kind::{Id, Kind},
    object,
    plan::{Action, Plan},
    world::World,
};

/// What a rule may look at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Context<'a> {
    pub(crate) world: &'a World,
    pub(crate) now: Timestamp,
    pub(crate) settings: &'a Settings,
}

/// Decides what to do about an object of a kind.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rule {
    pub(crate) kind: Kind,
    pub(crate) decide: fn(Context<'_>, &Value) -> Plan,
}

/// Plans that are carried out at the same time. Writes that arrive together share a flush.
const AT_ONCE: usize = 64;

/// How long a failed plan waits at first, and at most.
const FIRST_RETRY: Duration = Duration::from_millis(200);
const LAST_RETRY: Duration = Duration::from_secs(30);

pub(crate) struct Engine {
    clients: Clients,
    settings: Settings,
    rules: Vec<Rule>,
    world: World,
    waiting: BTreeSet<Id>,
    timers: BTreeMap<Timestamp, BTreeSet<Id>>,
    failed: BTreeMap<Id, u32>,
    /// Events about failures that are still to be posted.
    telling: Vec<Action>,
}

impl Follower for Engine {
    fn forget(&mut self) {
        self.world = World::default();
    }

    fn next_time(&self) -> Option<Timestamp> {
        if !self.waiting.is_empty() || !self.telling.is_empty() {
            return Some(Timestamp::MIN);
        }
        self.timers.keys().next().copied()
    }

    fn take_in(&mut self, change: &Change) {
        let place = match change.group() {
            "" => change.plural().to_owned(),
            group => format!("{}.{group}", change.plural()),
        };
        if change.is_deletion {
            self.world.count_out(place, change.namespace().to_owned());
        } else if change.is_new {
            self.world.count_in(place, change.namespace().to_owned());
        }
        self.waiting.extend(concern::quotas(&self.world, change.namespace()));
        let Some(kind) = Kind::stored_as(change.group(), change.plural()) else { return };
        if !concern::is_followed(kind, change.name()) {
            return;
        }
        if change.is_deletion {
            let id = Id::new(kind, change.namespace(), change.name());
            if let Some(object) = self.world.remove(&id) {
                self.wake(kind, &object);
            }
        } else if let Ok(mut object) = change.object() {
            // Stored objects name their kind only if they are custom.
            object::set(&mut object, "/apiVersion", kind.api_version());
            object::set(&mut object, "/kind", kind.name());
            self.put(kind, object);
        }
        self.world.rest();
    }

    /// Decides for all that wait, and acts. Changes that come meanwhile are taken in afterwards.
    async fn work(&mut self) {
        self.wake_timers();
        let now = self.settings.clock.now();
        let waiting = std::mem::take(&mut self.waiting);
        let mut plans = Vec::new();
        for id in waiting {
            let plan = self.decide(&id, now);
            self.world.rest();
            if let Some(again) = plan.again {
                self.timers.entry(again).or_default().insert(id.clone());
            }
            if !plan.actions.is_empty() {
                plans.push((id, plan.actions));
            }
        }
        let telling = std::mem::take(&mut self.telling);
        self.clients.carry_out(telling, now).await;
        let clients = self.clients.clone();
        let mut outcomes = stream::iter(plans)
            .map(|(id, actions)| {
                let clients = &clients;
                async move { (id, clients.carry_out(actions, now).await) }
            })
            .buffer_unordered(AT_ONCE);
        while let Some((id, outcome)) = outcomes.next().await {
            self.learn(id, outcome, now);
        }
    }
}

impl Engine {
    pub(crate) fn new(api: &Api, settings: Settings, rules: Vec<Rule>) -> Self {
        Self {
            clients: Clients::new(api),
            settings,
            rules,
            world: World::default(),
            waiting: BTreeSet::new(),
            timers: BTreeMap::new(),
            failed: BTreeMap::new(),
            telling: Vec::new(),
        }
    }

    fn put(&mut self, kind: Kind, object: Value) {
        let id = Id::of(kind, &object);
        if self.world.put(kind, object)
            && let Some(object) = self.world.get(&id)
        {
            if kind == Kind::Pod && !object::text(object, "/spec/nodeName").is_empty() {
                // A pod from before this server was started goes on where it was.
                let began = object::time(object, "/status/startTime");
                let uid = object::uid(object).to_owned();
                self.world.place(&uid, began.unwrap_or_else(|| self.settings.clock.now()));
            }
            self.wake_known(&id);
        }
    }

    fn wake_known(&mut self, id: &Id) {
        if let Some(object) = self.world.get(id) {
            self.waiting.extend(concern::concerned(&self.world, id.kind, object));
        }
    }

    fn wake(&mut self, kind: Kind, object: &Value) {
        self.waiting.extend(concern::concerned(&self.world, kind, object));
    }

    fn wake_timers(&mut self) {
        let now = self.settings.clock.now();
        while let Some(entry) = self.timers.first_entry() {
            if *entry.key() > now {
                return;
            }
            self.waiting.extend(entry.remove());
        }
    }

    /// Has people told why something does not get on. Conflicts are everyday and resolve themselves.
    fn tell_failure(&mut self, id: &Id, failure: &Failure) {
        let Some(object) = self.world.get(id) else { return };
        let mut plan = Plan::none();
        let message = failure.error.message();
        if failure.is_pod {
            let message = format!("Error creating: {message}");
            plan.warn(object, "flumen-sim", "FailedCreate", message);
        } else {
            plan.warn(object, "flumen-sim", "FailedSync", message.to_owned());
        }
        self.telling.extend(plan.actions);
    }

    fn decide(&self, id: &Id, now: Timestamp) -> Plan {
        let mut all = Plan::none();
        let Some(object) = self.world.get(id) else { return all };
        let context = Context { world: &self.world, now, settings: &self.settings };
        for rule in self.rules.iter().filter(|rule| rule.kind == id.kind) {
            let plan = (rule.decide)(context, object);
            all.actions.extend(plan.actions);
            if let Some(again) = plan.again {
                all.again_at(again);
            }
        }
        all
    }

    fn learn(&mut self, id: Id, outcome: Outcome, now: Timestamp) {
        for (kind, object) in outcome.written {
            self.put(kind, object);
            self.world.rest();
        }
        for ended in outcome.ended {
            self.world.end(&ended);
            self.wake_known(&ended);
        }
        let Some(failure) = outcome.error else {
            self.failed.remove(&id);
            self.world.fail(&id, None);
            return;
        };
        if failure.is_pod {
            self.world.fail(&id, Some(failure.error.message().to_owned()));
        }
        let is_first = !self.failed.contains_key(&id);
        if is_first && failure.error.reason() != Some(Reason::Conflict) {
            self.tell_failure(&id, &failure);
        }
        let attempts = self.failed.entry(id.clone()).or_default();
        let wait = (FIRST_RETRY * 2_u32.saturating_pow(*attempts)).min(LAST_RETRY);
        *attempts += 1;
        self.timers.entry(later(now, wait)).or_default().insert(id);
    }
}
