//! A call on its way through the server.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use flumen_kinds::Traces;
use parking_lot::{Mutex, MutexGuard};
use serde_json::Value;

use crate::{
    Answer, Api, ApiError, Call, Payload, Representation, Resource, Subresource, Target,
    conversion,
    rules::{self, Read},
    storage,
};

#[derive(Debug)]
pub(crate) struct Request<'a> {
    pub api: &'a Api,
    pub call: &'a Call,
    pub resource: Arc<Resource>,
    warnings: Mutex<Vec<String>>,
    is_unsettled: AtomicBool,
    traces: Mutex<Traces>,
}

impl<'a> Request<'a> {
    pub(crate) fn new(api: &'a Api, call: &'a Call, resource: Arc<Resource>) -> Self {
        Self {
            api,
            call,
            resource,
            warnings: Mutex::default(),
            is_unsettled: AtomicBool::default(),
            traces: Mutex::default(),
        }
    }

    pub(crate) fn target(&self) -> &'a Target {
        &self.call.target
    }

    pub(crate) fn namespace(&self) -> &'a str {
        if self.resource.is_namespaced() { &self.call.target.namespace } else { "" }
    }

    pub(crate) fn subresource(&self) -> Option<&Subresource> {
        self.resource.subresource(&self.call.target.subresource)
    }

    pub(crate) fn key(&self, name: &str) -> String {
        storage::key(&self.resource, self.namespace(), name)
    }

    /// Said once, however often it comes up.
    pub(crate) fn warn(&self, warning: impl Into<String>) {
        let warning = warning.into();
        let mut warnings = self.warnings.lock();
        if !warnings.contains(&warning) {
            warnings.push(warning);
        }
    }

    /// Notes that the real server stores something that it shows to nobody, so that the next write is none
    /// without effect.
    pub(crate) fn unsettle(&self) {
        self.is_unsettled.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_unsettled(&self) -> bool {
        self.is_unsettled.load(Ordering::Relaxed) || self.has_null_bytes()
    }

    /// Whether bytes were null. The real server stores them as such and reads them as empty ones, so that neither
    /// this write nor the next is without effect.
    pub(crate) fn has_null_bytes(&self) -> bool {
        self.traces().has_null_bytes
    }

    /// Remembers what is to be known of the object that was sent, or that a patch made.
    pub(crate) fn note(&self, read: &Read) {
        self.traces().clone_from(&read.traces);
    }

    /// Whether an update counts as a change, whatever comes of it.
    pub(crate) fn counts(&self) -> bool {
        self.traces().has_empty
    }

    /// Whether the object has to be tightened.
    pub(crate) fn is_loose(&self) -> bool {
        self.traces().is_loose
    }

    /// The maps of the object that were given with nothing in them.
    pub(crate) fn empty_maps(&self) -> Vec<&'static str> {
        self.traces().empty_maps.clone()
    }

    fn traces(&self) -> MutexGuard<'_, Traces> {
        self.traces.lock()
    }

    pub(crate) fn not_found(&self, name: &str) -> ApiError {
        ApiError::not_found(&self.resource.group, &self.resource.plural, name)
    }

    pub(crate) fn conflict(&self, name: &str, why: &str) -> ApiError {
        ApiError::conflict(&self.resource.group, &self.resource.plural, name, why)
    }

    /// Brings objects of the store into the version of the request, as far as a program has to do that.
    pub(crate) async fn load(&self, objects: &mut [Value]) -> Result<(), ApiError> {
        conversion::load(self.api, &self.resource, objects).await
    }

    /// The answer with an object that is in the version that is stored.
    pub(crate) fn answer(&self, code: u16, stored: Value) -> Answer {
        if !self.target().subresource.is_empty() {
            // What is hidden of an object is seen in its parts.
            return self.answer_unhidden(code, stored);
        }
        self.answer_as_is(code, rules::source(&self.resource, self.call.representation, stored))
    }

    /// The same where nothing of an object is hidden.
    pub(crate) fn answer_unhidden(&self, code: u16, stored: Value) -> Answer {
        let object = match self.call.representation {
            Representation::Object => rules::from_hub(&self.resource, stored),
            other => rules::source(&self.resource, other, stored),
        };
        self.answer_as_is(code, object)
    }

    /// The answer with an object of whatever kind.
    pub(crate) fn answer_as_is(&self, code: u16, object: Value) -> Answer {
        let resource = Some(Arc::clone(&self.resource));
        Answer::new(code, Payload::Object { object, resource })
    }

    pub(crate) fn take_warnings(&self) -> Vec<String> {
        std::mem::take(&mut *self.warnings.lock())
    }
}
