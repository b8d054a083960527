//! A server in memory and what tests do with it.

use flumen_apiserver::{Api, ApiError, Client, ResourceName};
use flumen_store::{Options, Store};
use serde_json::{Value, json};

pub(crate) const CONFIG_MAPS: ResourceName<'static> = ResourceName::new("", "v1", "configmaps");
pub(crate) const NAMESPACES: ResourceName<'static> = ResourceName::new("", "v1", "namespaces");

/// A client of a new server.
pub(crate) async fn start() -> Client {
    let store = Store::in_memory(Options::default()).expect("memory is there");
    let api = Api::open(store).await.expect("the server starts");
    Client::new(api, "test")
}

#[expect(clippy::needless_pass_by_value, reason = "callers make the data where they pass it")]
pub(crate) fn config_map(name: &str, data: Value) -> Value {
    json!({ "metadata": { "name": name, "namespace": "default" }, "data": data })
}

#[track_caller]
pub(crate) fn refusal<T: std::fmt::Debug>(done: Result<T, ApiError>) -> (u16, String) {
    let error = done.expect_err("it is refused");
    (error.code(), error.message().to_owned())
}
