//! Starting, stopping and starting again.

use flumen_apiserver::{Client, ResourceName, StaticTokens};
use flumen_local::{ApiServer, ApiServerOptions, Error, Home, Instance, InstanceOptions, State};
use flumen_registry::Report;
use flumen_sim::{Controllers, Pace};
use flumen_testkit::free_port;
use serde_json::json;

const CONFIG_MAPS: ResourceName<'static> = ResourceName::new("", "v1", "configmaps");

fn options(home: &Home) -> InstanceOptions {
    InstanceOptions {
        home: Some(home.clone()),
        port: 0,
        registry_port: 0,
        controllers: Controllers::Core,
        pace: Pace::default(),
        report: Report::default(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_created_is_there_the_next_time() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let home = Home::new(scratch.path().join("cluster"));

    // Ports that nothing else takes before the second start.
    let [port, registry_port] = [(); 2].map(|()| free_port().expect("a free port"));
    let chosen = InstanceOptions { port, registry_port, ..options(&home) };
    let first = Instance::start(chosen).await.expect("it starts");
    assert!(
        matches!(home.state(), Ok(State::Running(record)) if record.server == first.record().server)
    );
    let client = Client::new(first.server().api().clone(), "test");
    let object = json!({"metadata": {"name": "kept"}, "data": {"a": "1"}});
    client.create(CONFIG_MAPS, "default", &object).await.expect("created");
    let (server, kubeconfig) = (first.record().server.clone(), read(&home.kubeconfig()));
    let Err(Error::Running { .. }) = Instance::start(options(&home)).await else {
        panic!("two instances share a directory")
    };
    first.shutdown().await;
    assert!(matches!(home.state(), Ok(State::Stopped)));
    client
        .create(CONFIG_MAPS, "default", &json!({"metadata": {"name": "late"}}))
        .await
        .expect_err("closed");

    let second = Instance::start(options(&home)).await.expect("it starts again");
    assert_eq!(second.record().server, server, "clients know the port");
    assert_eq!(read(&home.kubeconfig()), kubeconfig, "clients know the authority and the token");
    let client = Client::new(second.server().api().clone(), "test");
    let kept = client.get(CONFIG_MAPS, "default", "kept").await.expect("it is there");
    assert_eq!(kept["data"], json!({"a": "1"}));
    second.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn instances_run_side_by_side_and_leave_nothing_if_told() {
    let start = || {
        let home = Home::new("unused");
        Instance::start(InstanceOptions { home: None, ..options(&home) })
    };
    let (one, other) = (start().await.expect("it starts"), start().await.expect("it starts"));
    assert_ne!(one.record().server, other.record().server);
    assert_ne!(one.record().registry, other.record().registry);
    let directory = one.home().path().to_owned();
    assert!(directory.exists());
    one.shutdown().await;
    assert!(!directory.exists());
    other.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_makes_its_directory() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let objects = scratch.path().join("new/objects.redb");
    let server = ApiServer::start(ApiServerOptions {
        objects: Some(objects.clone()),
        controllers: Controllers::None,
        ..ApiServerOptions::in_memory(StaticTokens::default())
    });
    server.await.expect("it starts").shutdown().await;
    assert!(objects.exists());
}

fn read(path: &std::path::Path) -> String {
    std::fs::read_to_string(path).expect("the file is there")
}
