//! Service accounts: tokens for them, and who a token is.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{AuthError, jwt::Signer};
use crate::{Api, ApiError, Client, ResourceName, User, clock, meta, state::StateDir};

const CREDENTIAL_ID: &str = "authentication.kubernetes.io/credential-id";
const POD_NAME: &str = "authentication.kubernetes.io/pod-name";
const POD_UID: &str = "authentication.kubernetes.io/pod-uid";
const NODE_NAME: &str = "authentication.kubernetes.io/node-name";
const NODE_UID: &str = "authentication.kubernetes.io/node-uid";

/// Issuer of service account tokens, and their default audience.
pub(crate) const ISSUER: &str = "https://kubernetes.default.svc";

pub(crate) const ACCOUNTS: ResourceName<'static> = ResourceName::new("", "v1", "serviceaccounts");

/// Makes and knows tokens.
#[derive(Debug)]
pub(crate) struct ServiceAccounts {
    signer: Signer,
    client: Client,
}

/// What a token says.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub(super) struct Claims {
    pub aud: Vec<String>,
    pub exp: i64,
    pub iat: i64,
    pub nbf: i64,
    pub iss: String,
    pub jti: String,
    pub sub: String,
    #[serde(rename = "kubernetes.io")]
    pub bound: Bound,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub(crate) struct Bound {
    pub namespace: String,
    pub serviceaccount: Reference,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pod: Option<Reference>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret: Option<Reference>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<Reference>,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub(crate) struct Reference {
    pub name: String,
    pub uid: String,
}

impl Reference {
    pub(crate) fn of(object: &Value) -> Self {
        Self { name: meta::name(object).to_owned(), uid: meta::text(object, "uid").to_owned() }
    }
}

impl ServiceAccounts {
    pub(super) fn open(api: &Api, state: &StateDir) -> Result<Self, AuthError> {
        let client = Client::new(api.clone(), "kube-apiserver");
        Ok(Self { signer: Signer::open(state)?, client })
    }

    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    pub(super) fn key_set(&self) -> Value {
        self.signer.key_set()
    }

    /// A token; the claims lack nothing but what every token has.
    pub(crate) fn issue(
        &self,
        audiences: &[String],
        expires: i64,
        bound: Bound,
    ) -> Result<String, ApiError> {
        let now = clock::now().as_second();
        let claims = Claims {
            aud: audiences.to_vec(),
            exp: expires,
            iat: now,
            nbf: now,
            iss: ISSUER.to_owned(),
            jti: clock::uid(),
            sub: super::service_account_name(&bound.namespace, &bound.serviceaccount.name),
            bound,
        };
        let token = serde_json::to_value(&claims).ok().and_then(|claims| self.signer.sign(&claims));
        token.ok_or_else(|| ApiError::internal("cannot sign a token"))
    }

    /// The user of a token for one of the audiences, with those that it is for. Whatever a token is
    /// bound to must still be there.
    pub(super) async fn user(
        &self,
        token: &str,
        audiences: &[String],
    ) -> Option<(User, Vec<String>)> {
        let claims: Claims = serde_json::from_value(self.signer.verify(token)?).ok()?;
        let now = clock::now().as_second();
        let Claims { bound, .. } = &claims;
        if claims.iss != ISSUER || claims.exp <= now || claims.nbf > now {
            return None;
        }
        let audiences: Vec<String> =
            audiences.iter().filter(|audience| claims.aud.contains(audience)).cloned().collect();
        if audiences.is_empty() {
            return None;
        }
        self.check(ACCOUNTS, &bound.namespace, Some(&bound.serviceaccount)).await?;
        let core = |plural| ResourceName::new("", "v1", plural);
        self.check(core("pods"), &bound.namespace, bound.pod.as_ref()).await?;
        self.check(core("secrets"), &bound.namespace, bound.secret.as_ref()).await?;
        if bound.pod.is_none() {
            self.check(core("nodes"), "", bound.node.as_ref()).await?;
        }
        Some((user_of(claims), audiences))
    }

    async fn check(
        &self,
        of: ResourceName<'_>,
        namespace: &str,
        reference: Option<&Reference>,
    ) -> Option<()> {
        let Some(reference) = reference else { return Some(()) };
        let object = self.client.get(of, namespace, &reference.name).await.ok()?;
        (meta::text(&object, "uid") == reference.uid).then_some(())
    }
}

fn user_of(claims: Claims) -> User {
    let bound = claims.bound;
    let mut extra = BTreeMap::new();
    let mut add = |key: &str, value: String| extra.insert(key.to_owned(), vec![value]);
    add(CREDENTIAL_ID, format!("JTI={}", claims.jti));
    if let Some(pod) = bound.pod {
        add(POD_NAME, pod.name);
        add(POD_UID, pod.uid);
    }
    if let Some(node) = bound.node {
        add(NODE_NAME, node.name);
        add(NODE_UID, node.uid);
    }
    User {
        name: claims.sub,
        uid: bound.serviceaccount.uid,
        groups: super::service_account_groups(&bound.namespace),
        extra,
    }
}
