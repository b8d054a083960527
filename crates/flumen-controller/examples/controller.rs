//! Scratch.
#[tokio::main]
async fn main() {
    let args: Vec<String> = std::env::args().collect();
    let get = |name: &str| args.iter().position(|a| a == name).map(|i| args[i + 1].clone());
    let has = |name: &str| args.iter().any(|a| a == name);
    tracing_subscriber::fmt().with_writer(std::io::stderr).init();
    let connect = flumen_kube::ConnectOptions { kubeconfig: get("--kubeconfig").map(Into::into), ..Default::default() };
    let client = flumen_kube::Client::connect(&connect).await.unwrap();
    let mut options = flumen_controller::Options { storage: get("--storage").unwrap().into(), ..Default::default() };
    if has("--flux") {
        options.requeue_dependency = std::time::Duration::from_secs(5);
        options.defer_unknown_kinds = false;
        options.prune_guard = false;
        options.correct_drift_at_once = false;
        options.cancel_health_checks = false;
        options.external_artifacts = false;
    }
    flumen_controller::run(client, options, async { tokio::signal::ctrl_c().await.unwrap(); }).await.unwrap();
}
