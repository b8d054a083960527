//! Measures a first apply against a bare client that sends the same dry runs and applies.
//!
//! `cargo run --release -p flumen-apply --example first_apply -- KUBECONFIG [OBJECTS] [ROUNDS]`
//!
//! Each round creates two namespaces and fills one by the engine and one by the bare client, in turns. The
//! namespaces stay.
#![allow(clippy::print_stdout, reason = "an example for people")]

use std::{env, error::Error, fmt::Write as _, path::Path, time::SystemTime};

use flumen_apply::{ConfigMapStore, Options, Owner, Silent, apply};
use flumen_diff::normalize;
use flumen_kube::{ApplyOptions, Client, Cluster, ConnectOptions, ObjectName, Write};
use flumen_object::{ObjectId, ObjectSet};
use flumen_yaml::Node;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use tokio::time::{Duration, Instant};

type Failure = Box<dyn Error + Send + Sync>;

const CONCURRENCY: usize = 16;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let mut arguments = env::args().skip(1);
    let kubeconfig = arguments.next().ok_or("the path of a kubeconfig is missing")?;
    let count: usize = arguments.next().map_or(Ok(2000), |text| text.parse())?;
    let rounds: usize = arguments.next().map_or(Ok(3), |text| text.parse())?;
    let options =
        ConnectOptions { kubeconfig: Some(kubeconfig.into()), ..ConnectOptions::default() };
    let client = Client::connect(&options).await?;
    let run = SystemTime::UNIX_EPOCH.elapsed()?.as_secs();
    let (mut engine, mut bare) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        for turn in 0..2 {
            let by_engine = turn == round % 2;
            let namespace = format!("bench-{run}-{round}-{turn}");
            create_namespace(&client, &namespace).await?;
            let objects = objects(count, &namespace)?;
            let begin = Instant::now();
            if by_engine {
                by_the_engine(&client, objects, &namespace).await?;
                engine.push(begin.elapsed().as_secs_f64());
            } else {
                by_a_bare_client(&client, objects).await?;
                bare.push(begin.elapsed().as_secs_f64());
            }
        }
    }
    engine.sort_by(f64::total_cmp);
    bare.sort_by(f64::total_cmp);
    let (engine, bare) = (engine[rounds / 2], bare[rounds / 2]);
    println!(
        "{count} objects: engine {engine:.2} s, bare client {bare:.2} s, {:.2} ×",
        engine / bare
    );
    Ok(())
}

async fn by_the_engine(
    client: &Client,
    objects: ObjectSet,
    namespace: &str,
) -> Result<(), Failure> {
    let owner = Owner {
        manager: "kustomizer".into(),
        group: "inventory.kustomizer.dev".into(),
        name: "bench".into(),
        namespace: namespace.into(),
    };
    let options = Options {
        concurrency: CONCURRENCY,
        timeout: Duration::from_mins(10),
        ..Options::new(owner.clone())
    };
    let store = ConfigMapStore::new(client.clone(), owner, "2026-01-01T00:00:00Z".into());
    apply(client, objects, &store, &options, &Silent).await?;
    Ok(())
}

async fn by_a_bare_client(client: &Client, objects: ObjectSet) -> Result<(), Failure> {
    let mut bodies: Vec<Node> = objects.into_iter().map(|object| object.node).collect();
    bodies.iter_mut().for_each(normalize);
    for write in [Write::DryRun, Write::Real] {
        stream::iter(&bodies)
            .map(|body| async move { send(client, body, write).await })
            .buffer_unordered(CONCURRENCY)
            .try_collect::<Vec<()>>()
            .await?;
    }
    Ok(())
}

async fn send(client: &Client, body: &Node, write: Write) -> Result<(), Failure> {
    let id = ObjectId::of(body);
    let resource = client.resource(&id.gvk).await?.ok_or("an unknown kind")?;
    let name = ObjectName { resource: &resource, namespace: &id.namespace, name: &id.name };
    let options = ApplyOptions { manager: "bare", force: true, write };
    client.apply(name, body, options).await?;
    Ok(())
}

async fn create_namespace(client: &Client, name: &str) -> Result<(), Failure> {
    let yaml = format!("apiVersion: v1\nkind: Namespace\nmetadata: {{name: {name}}}\n");
    let body = read(&yaml)?;
    by_a_bare_client(client, body).await
}

fn objects(count: usize, namespace: &str) -> Result<ObjectSet, Failure> {
    let mut yaml = String::new();
    for number in 0..count {
        let name = format!("metadata: {{name: o{number:05}, namespace: {namespace}}}");
        let text = match number % 4 {
            0 => format!(
                "kind: ConfigMap\napiVersion: v1\n{name}\ndata: {{key: value, other: thing}}"
            ),
            1 => format!("kind: ServiceAccount\napiVersion: v1\n{name}"),
            2 => format!(
                "kind: Service\napiVersion: v1\n{name}\nspec: {{clusterIP: None, selector: {{app: a}}, ports: [{{port: 80}}]}}"
            ),
            _ => format!(
                "kind: Deployment\napiVersion: apps/v1\n{name}\nspec: {{replicas: 0, selector: {{matchLabels: {{app: a}}}}, \
                 template: {{metadata: {{labels: {{app: a}}}}, spec: {{containers: [{{name: a, image: a}}]}}}}}}"
            ),
        };
        writeln!(yaml, "---\n{text}")?;
    }
    read(&yaml)
}

fn read(yaml: &str) -> Result<ObjectSet, Failure> {
    Ok(flumen_build::objects_of(yaml.as_bytes(), Path::new("bench.yaml"))?)
}
