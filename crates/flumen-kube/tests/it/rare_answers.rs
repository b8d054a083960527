//! Answers that a real server gives too rarely to wait for them.

use std::time::{Duration, Instant};

use flumen_kube::{
    Client, Cluster as _, ConnectOptions, Error, Event, ListOptions, ObjectName, Resource,
    WatchOptions,
};
use flumen_object::Gvk;
use futures_util::StreamExt as _;

use crate::support::{Scripted, resource, text};

const CORE: &str = r#"{"kind":"APIGroupDiscoveryList","items":[{"versions":[{"version":"v1","resources":[
    {"resource":"configmaps","responseKind":{"kind":"ConfigMap"},"scope":"Namespaced","verbs":["get"]}]}]}]}"#;
const NO_GROUPS: &str = r#"{"kind":"APIGroupDiscoveryList","items":[]}"#;

fn discovery(request: &str) -> Option<(u16, &'static str)> {
    match request {
        "GET /api" => Some((200, CORE)),
        "GET /apis" => Some((200, NO_GROUPS)),
        _ => None,
    }
}

#[tokio::test]
async fn a_list_that_expires_between_its_pages_begins_again() {
    let server = Scripted::start(|request, earlier| {
        let page = |continued: bool, first: bool| match (continued, first) {
            (false, _) => r#"{"metadata":{"continue":"next"},"items":[{"metadata":{"name":"a"}}]}"#,
            (true, true) => r#"{"kind":"Status","code":410,"reason":"Expired"}"#,
            (true, false) => {
                r#"{"metadata":{"resourceVersion":"7"},"items":[{"metadata":{"name":"b"}}]}"#
            }
        };
        discovery(request).unwrap_or_else(|| {
            let (continued, first) = (request.contains("continue=next"), earlier < 4);
            (if continued && first { 410 } else { 200 }, page(continued, first))
        })
    })
    .await;
    let client = server.client().await;
    let maps = resource(&client, "v1", "ConfigMap").await;
    let list = client.list(&maps, ListOptions::default()).await.expect("a list");
    let names: Vec<&str> =
        list.items.iter().map(|item| text(item, &["metadata", "name"])).collect();
    assert_eq!((names, &*list.resource_version), (vec!["a", "b"], "7"));
    assert_eq!(server.requests().len(), 6, "{:?}", server.requests());
}

/// What a watch says whose body is this.
async fn watched(status: u16, body: &'static str) -> Vec<Result<Event, Error>> {
    let script = move |request: &str, _| discovery(request).unwrap_or((status, body));
    let client = Scripted::start(script).await.client().await;
    let maps = resource(&client, "v1", "ConfigMap").await;
    match client.watch(&maps, WatchOptions::default()).await {
        Ok(watch) => watch.collect().await,
        Err(error) => vec![Err(error)],
    }
}

#[tokio::test]
async fn watches_say_where_they_are_and_when_it_is_too_late() {
    let events = watched(
        200,
        concat!(
            r#"{"type":"ADDED","object":{"metadata":{"name":"a"}}}"#,
            "\n",
            r#"{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"12"}}}"#,
            "\n",
            r#"{"type":"INVENTED","object":{}}"#,
            "\n",
            r#"{"type":"ERROR","object":{"kind":"Status","code":410,"message":"too old"}}"#,
            "\n",
            r#"{"type":"ADDED","object":{"metadata":{"name":"after the error"}}}"#,
            "\n",
        ),
    )
    .await;
    let [Ok(Event::Applied(_)), Ok(Event::Bookmark { resource_version }), Err(error)] = &events[..]
    else {
        panic!("{events:?}")
    };
    assert_eq!(resource_version, "12");
    assert!(error.is_expired(), "{error:?}");

    let refused = watched(410, r#"{"kind":"Status","code":410,"reason":"Expired"}"#).await;
    assert!(matches!(&refused[..], [Err(error)] if error.is_expired()), "{refused:?}");
    let cut = watched(200, r#"{"type":"ADDED","object":{"metadata""#).await;
    assert!(cut.is_empty(), "an event that was cut off is none: {cut:?}");
    let garbage = watched(200, "<html>\n").await;
    assert!(matches!(&garbage[..], [Err(Error::Unreadable { .. })]), "{garbage:?}");
}

#[tokio::test]
async fn older_servers_are_asked_for_each_group() {
    let server = Scripted::start(|request, _| match request {
        "GET /api" => (200, r#"{"kind":"APIVersions","versions":["v1"]}"#),
        "GET /apis" => (
            200,
            r#"{"kind":"APIGroupList","groups":[
                {"name":"apps","versions":[{"groupVersion":"apps/v1beta1"},{"groupVersion":"apps/v1"}],
                 "preferredVersion":{"groupVersion":"apps/v1"}},
                {"name":"down.example.com","versions":[{"groupVersion":"down.example.com/v1"}]}]}"#,
        ),
        "GET /api/v1" => (
            200,
            r#"{"groupVersion":"v1","resources":[{"name":"pods","kind":"Pod","namespaced":true,"verbs":["list"]},
                {"name":"pods/status","kind":"Pod","namespaced":true,"verbs":["get"]}]}"#,
        ),
        "GET /apis/apps/v1" | "GET /apis/apps/v1beta1" => (
            200,
            if request.ends_with("v1") {
                r#"{"groupVersion":"apps/v1","resources":[{"name":"deployments","kind":"Deployment","namespaced":true,"verbs":[]}]}"#
            } else {
                r#"{"groupVersion":"apps/v1beta1","resources":[{"name":"deployments","kind":"Deployment","namespaced":true,"verbs":[]}]}"#
            },
        ),
        "GET /apis/down.example.com/v1" => (403, r#"{"kind":"Status","code":403,"message":"not now"}"#),
        _ => (404, "not here"),
    })
    .await;
    let client = server.client().await;
    assert_eq!(&*resource(&client, "v1", "Pod").await.plural, "pods");
    assert_eq!(&*resource(&client, "apps/v1beta1", "Deployment").await.plural, "deployments");
    let preferred = client.preferred_resource("apps", "Deployment").await.expect("discovery works");
    assert_eq!(preferred.expect("served").gvk.version, "v1");
    assert_eq!(
        client.preferred_resource("down.example.com", "Thing").await.expect("no error"),
        None
    );
    check_down(&client).await;
}

/// Of `down.example.com` it is not known which kinds it has.
async fn check_down(client: &Client) {
    let find = async |group: &str| {
        let gvk = Gvk::new(&format!("{group}/v1").into(), "Thing".into());
        assert_eq!(client.resource(&gvk).await.expect("no error"), None);
        client.resource_in_any_version(&gvk).await
    };
    let error = find("down.example.com").await.expect_err("it may be there");
    assert!(error.is_group_down(), "{error:?}");
    assert!(error.to_string().contains("\"down.example.com\""), "{error}");
    assert!(error.hint().is_some());
    assert_eq!(find("example.com").await.expect("no error"), None);
}

#[tokio::test]
async fn a_group_whose_server_is_down_is_known_to_be() {
    let server = Scripted::start(|request, _| match request {
        "GET /apis" => (
            200,
            r#"{"kind":"APIGroupDiscoveryList","items":[
                {"metadata":{"name":"down.example.com"},"versions":[{"version":"v1","freshness":"Stale"}]},
                {"metadata":{"name":"old.example.com"},"versions":[{"version":"v1","freshness":"Stale","resources":[
                    {"resource":"things","responseKind":{"kind":"Thing"},"scope":"Namespaced"}]}]},
                {"metadata":{"name":"apps"},"versions":[{"version":"v1","freshness":"Current","resources":[
                    {"resource":"deployments","responseKind":{"kind":"Deployment"},"scope":"Namespaced"}]}]}]}"#,
        ),
        _ => (200, r#"{"kind":"APIGroupDiscoveryList","items":[]}"#),
    })
    .await;
    let client = server.client().await;
    check_down(&client).await;
    // One version stands for another, and what a server had it still has.
    for (api_version, kind) in [("apps/v1beta1", "Deployment"), ("old.example.com/v1", "Thing")] {
        let gvk = Gvk::new(&api_version.into(), kind.into());
        let found = client.resource_in_any_version(&gvk).await.expect("no error");
        assert_eq!(found.expect("it is served").gvk.version, "v1");
    }
}

#[tokio::test]
async fn what_is_no_api_server_is_said_to_be_none() {
    let server = Scripted::start(|_, _| (200, "<html>Welcome</html>")).await;
    let client = server.client().await;
    let gvk = Gvk::new(&"v1".into(), "Pod".into());
    let error = client.resource(&gvk).await.expect_err("a web page");
    assert!(matches!(error, Error::Unreadable { .. }), "{error:?}");
    let message = error.to_string();
    assert!(message.contains(client.address()) && message.contains("GET /api"), "{message}");

    let server = Scripted::start(|_, _| (404, "<html>\n<b>Nothing here</b>")).await;
    let error = server.client().await.resource(&gvk).await.expect_err("a web page");
    assert_eq!(error.to_string(), "<html>");
}

#[tokio::test]
async fn silence_ends() {
    // Accepts connections into its backlog and never answers.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let options = ConnectOptions {
        server: Some(format!("http://{address}")),
        request_timeout: Some(Duration::from_millis(50)),
        ..ConnectOptions::default()
    };
    let client = Client::connect(&options).await.expect("a client");
    let deadline = Instant::now() + Duration::from_secs(2);
    let client = client.with_deadline(deadline);
    let maps = Resource {
        gvk: Gvk::new(&"v1".into(), "ConfigMap".into()),
        plural: "configmaps".into(),
        namespaced: true,
        verbs: Vec::new().into(),
    };
    let object = ObjectName { resource: &maps, namespace: "default", name: "a" };
    let error = client.get(object).await.expect_err("no answer");
    assert!(matches!(error, Error::TimedOut { .. }), "{error:?}");
    assert!(error.to_string().contains(&address.to_string()), "{error}");
    assert!(client.requests() > 1, "it was tried again");
}
