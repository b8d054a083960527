//! Flags of Flux's controllers that are accepted, so that its manifests work, and do nothing.

use clap::{ArgAction, Args};

use super::values::go_bool;

/// All are hidden from the help: nobody needs to give them.
#[derive(Debug, Args)]
pub(super) struct AcceptedArgs {
    #[arg(long, hide = true)]
    kube_api_qps: Option<f32>,
    #[arg(long, hide = true)]
    kube_api_burst: Option<i32>,
    #[arg(long, hide = true)]
    token_cache_max_size: Option<u32>,
    #[arg(long, hide = true)]
    token_cache_max_duration: Option<String>,

    #[arg(long, hide = true)]
    events_addr: Option<String>,
    #[arg(long, hide = true)]
    default_decryption_service_account: Option<String>,
    #[arg(long, hide = true)]
    default_kubeconfig_service_account: Option<String>,
    #[arg(long, hide = true)]
    sops_age_secret: Option<String>,
    #[arg(long, hide = true)]
    sops_vault_configmap: Option<String>,
    #[arg(long, hide = true)]
    override_manager_before_dry_run: Vec<String>,
    #[arg(long, hide = true, value_parser = go_bool, action = ArgAction::Set, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    insecure_kubeconfig_exec: Option<bool>,
    #[arg(long, hide = true, value_parser = go_bool, action = ArgAction::Set, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    insecure_kubeconfig_tls: Option<bool>,
    #[arg(long, hide = true, value_parser = ["sha256", "sha384", "sha512", "blake3"])]
    artifact_digest_algo: Option<String>,
    #[arg(long, hide = true)]
    helm_index_max_size: Option<i64>,
    #[arg(long, hide = true)]
    helm_chart_max_size: Option<i64>,
    #[arg(long, hide = true)]
    helm_chart_file_max_size: Option<i64>,
    #[arg(long, hide = true)]
    helm_cache_max_size: Option<i64>,
    #[arg(long, hide = true)]
    helm_cache_ttl: Option<String>,
    #[arg(long, hide = true)]
    helm_cache_purge_interval: Option<String>,
}

impl AcceptedArgs {
    /// Those that were given and have nothing to act on here.
    pub(super) fn without_meaning(&self) -> Vec<String> {
        given(&[
            ("kube-api-qps", self.kube_api_qps.is_some()),
            ("kube-api-burst", self.kube_api_burst.is_some()),
            ("token-cache-max-size", self.token_cache_max_size.is_some()),
            ("token-cache-max-duration", self.token_cache_max_duration.is_some()),
        ])
    }

    /// Those that were given and ask for something that is not there yet. An empty value asks for nothing.
    pub(super) fn unsupported(&self) -> Vec<String> {
        let is_set = |text: &Option<String>| text.as_ref().is_some_and(|text| !text.is_empty());
        given(&[
            ("events-addr", is_set(&self.events_addr)),
            (
                "default-decryption-service-account",
                is_set(&self.default_decryption_service_account),
            ),
            (
                "default-kubeconfig-service-account",
                is_set(&self.default_kubeconfig_service_account),
            ),
            ("sops-age-secret", is_set(&self.sops_age_secret)),
            ("sops-vault-configmap", is_set(&self.sops_vault_configmap)),
            ("override-manager-before-dry-run", !self.override_manager_before_dry_run.is_empty()),
            ("insecure-kubeconfig-exec", self.insecure_kubeconfig_exec == Some(true)),
            ("insecure-kubeconfig-tls", self.insecure_kubeconfig_tls == Some(true)),
            (
                "artifact-digest-algo",
                self.artifact_digest_algo.as_ref().is_some_and(|name| name != "sha256"),
            ),
            ("helm-index-max-size", self.helm_index_max_size.is_some()),
            ("helm-chart-max-size", self.helm_chart_max_size.is_some()),
            ("helm-chart-file-max-size", self.helm_chart_file_max_size.is_some()),
            ("helm-cache-max-size", self.helm_cache_max_size.is_some()),
            ("helm-cache-ttl", is_set(&self.helm_cache_ttl)),
            ("helm-cache-purge-interval", is_set(&self.helm_cache_purge_interval)),
        ])
    }
}

fn given(flags: &[(&str, bool)]) -> Vec<String> {
    flags.iter().filter(|(_, is_given)| *is_given).map(|(name, _)| format!("--{name}")).collect()
}
