//! The connections of a proxy: what becomes of each request, and forwarding.

use std::{
    collections::BTreeMap,
    error::Error,
    fmt, io,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use hyper::{
    Request, Response, Version,
    body::Incoming,
    header::{self, HeaderMap, HeaderName},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use reqwest::{Body, Client};
use tokio::{net::TcpListener, sync::Semaphore, time::sleep};

use super::{
    admin::client,
    faults::{Fault, FaultPlan},
    request::KubeRequest,
};
use crate::certificate::Identity;

/// A connection that ends without an answer.
type Dropped = Box<dyn Error + Send + Sync>;
type Matching = Box<dyn Fn(&KubeRequest) -> bool + Send>;

/// They belong to one connection, not to what is forwarded.
const OF_CONNECTION: [HeaderName; 5] =
    [header::CONNECTION, header::HOST, header::TE, header::TRANSFER_ENCODING, header::UPGRADE];

/// What the connections share.
#[derive(Debug)]
pub(super) struct Front {
    server: String,
    administrator: Client,
    /// For requests that bring their own credentials.
    others: Client,
    state: Mutex<State>,
    /// Told when a request is held.
    held: Condvar,
}

/// What arrived, and what is to happen to what arrives.
#[derive(Default)]
pub(super) struct State {
    pub(super) requests: Vec<KubeRequest>,
    faults: Option<Faults>,
    hold: Option<Hold>,
}

struct Faults {
    plan: FaultPlan,
    matching: Matching,
    /// How often each request arrived.
    arrived: BTreeMap<String, u64>,
}

struct Hold {
    passes: usize,
    matching: Matching,
    reached: bool,
    /// Closed to end the connections of held requests, and filled to forward them.
    release: Arc<Semaphore>,
}

enum Fate {
    Forwarded(Option<Fault>),
    Held(Arc<Semaphore>),
}

impl State {
    pub(super) fn inject(&mut self, plan: FaultPlan, matching: Matching) {
        self.faults = Some(Faults { plan, matching, arrived: BTreeMap::new() });
    }

    pub(super) fn heal(&mut self) {
        self.faults = None;
    }

    pub(super) fn hold_after(&mut self, passes: usize, matching: Matching) {
        self.release();
        let release = Arc::new(Semaphore::new(0));
        self.hold = Some(Hold { passes, matching, reached: false, release });
    }

    pub(super) fn release(&mut self) {
        if let Some(hold) = self.hold.take() {
            hold.release.close();
        }
    }

    pub(super) fn resume(&mut self) {
        if let Some(hold) = self.hold.take() {
            hold.release.add_permits(Semaphore::MAX_PERMITS);
        }
    }

    fn holds(&self) -> bool {
        self.hold.as_ref().is_some_and(|hold| hold.reached)
    }

    fn decide(&mut self, request: &KubeRequest) -> Fate {
        if let Some(hold) = &mut self.hold {
            if !hold.reached && (hold.matching)(request) {
                match hold.passes.checked_sub(1) {
                    Some(left) => hold.passes = left,
                    None => hold.reached = true,
                }
            }
            if hold.reached {
                return Fate::Held(Arc::clone(&hold.release));
            }
        }
        let faults = self.faults.as_mut().filter(|faults| (faults.matching)(request));
        Fate::Forwarded(faults.and_then(|faults| {
            let name = request.identity();
            let arrived = faults.arrived.entry(name.clone()).or_default();
            *arrived += 1;
            faults.plan.draw(&name, *arrived)
        }))
    }
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("State").field("requests", &self.requests).finish_non_exhaustive()
    }
}

impl Front {
    pub(super) fn new(server: &str, authority: &str, administrator: &Identity) -> io::Result<Self> {
        Ok(Self {
            server: server.to_owned(),
            administrator: client(authority, Some(administrator))?,
            others: client(authority, None)?,
            state: Mutex::default(),
            held: Condvar::new(),
        })
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn wait_for_hold(&self, patience: Duration) -> bool {
        let waited = self.held.wait_timeout_while(self.state(), patience, |state| !state.holds());
        waited.unwrap_or_else(PoisonError::into_inner).0.holds()
    }

    pub(super) async fn serve(self: Arc<Self>, listener: TcpListener) {
        while let Ok((stream, _)) = listener.accept().await {
            // Small answers must not wait for each other.
            let _ = stream.set_nodelay(true);
            let front = Arc::clone(&self);
            tokio::spawn(async move {
                let service = service_fn(|request| front.answer(request));
                // A client that goes away is no failure of the proxy.
                let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
            });
        }
    }

    async fn answer(&self, request: Request<Incoming>) -> Result<Response<Body>, Dropped> {
        match self.arrive(&request) {
            Fate::Held(release) => match release.acquire().await {
                Ok(_) => self.forward(request).await,
                Err(_) => Err("held until the end".into()),
            },
            Fate::Forwarded(None) => self.forward(request).await,
            Fate::Forwarded(Some(fault)) => self.fail(fault, request).await,
        }
    }

    async fn fail(
        &self,
        fault: Fault,
        request: Request<Incoming>,
    ) -> Result<Response<Body>, Dropped> {
        match fault {
            Fault::TooManyRequests { retry_after } => {
                refuse(429, "TooManyRequests", Some(retry_after))
            }
            Fault::InternalError => refuse(500, "InternalError", None),
            Fault::Unavailable => refuse(503, "ServiceUnavailable", None),
            Fault::DropBefore => Err("dropped before it was forwarded".into()),
            Fault::DropAfter => {
                self.forward(request).await?;
                Err("the answer is dropped".into())
            }
            Fault::Delay(time) => {
                sleep(time).await;
                self.forward(request).await
            }
        }
    }

    /// Records a request and says what becomes of it.
    fn arrive(&self, request: &Request<Incoming>) -> Fate {
        let text = |name| request.headers().get(name).and_then(|value| value.to_str().ok());
        let mut record = KubeRequest {
            method: request.method().to_string(),
            path: request.uri().path().to_owned(),
            query: request.uri().query().unwrap_or_default().to_owned(),
            content_type: text(header::CONTENT_TYPE).unwrap_or_default().to_owned(),
            fault: None,
            held: false,
        };
        let mut state = self.state();
        let fate = state.decide(&record);
        match &fate {
            Fate::Forwarded(fault) => record.fault = *fault,
            Fate::Held(_) => {
                record.held = true;
                self.held.notify_all();
            }
        }
        state.requests.push(record);
        fate
    }

    async fn forward(&self, request: Request<Incoming>) -> Result<Response<Body>, Dropped> {
        let (mut parts, body) = request.into_parts();
        let own_credentials = parts.headers.contains_key(header::AUTHORIZATION);
        let client = if own_credentials { &self.others } else { &self.administrator };
        clean(&mut parts.headers);
        let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
        let request = client.request(parts.method, format!("{}{path}", self.server));
        let answer = request.headers(parts.headers).body(Body::wrap(body)).send().await?;
        let mut answer = Response::from(answer);
        clean(answer.headers_mut());
        *answer.version_mut() = Version::HTTP_11;
        Ok(answer)
    }
}

fn clean(headers: &mut HeaderMap) {
    for name in OF_CONNECTION {
        headers.remove(name);
    }
}

/// An answer as an API server in trouble gives it.
fn refuse(code: u16, reason: &str, retry_after: Option<u32>) -> Result<Response<Body>, Dropped> {
    let details = retry_after
        .map(|seconds| format!(r#","details":{{"retryAfterSeconds":{seconds}}}"#))
        .unwrap_or_default();
    let status = format!(
        r#"{{"kind":"Status","apiVersion":"v1","metadata":{{}},"status":"Failure","message":"injected fault","reason":"{reason}"{details},"code":{code}}}"#
    );
    let mut answer =
        Response::builder().status(code).header(header::CONTENT_TYPE, "application/json");
    if let Some(seconds) = retry_after {
        answer = answer.header(header::RETRY_AFTER, seconds);
    }
    Ok(answer.body(Body::from(status))?)
}
