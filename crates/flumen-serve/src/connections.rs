//! From a listener to requests.

use std::{
    convert::Infallible, error::Error, net::SocketAddr, pin::pin, sync::Arc, time::Duration,
};

use hyper::{
    Request, Response,
    body::{Body, Incoming},
    service::Service,
};
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::conn::auto,
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    sync::{Semaphore, watch},
    task::{JoinHandle, JoinSet},
    time::{sleep, timeout},
};
use tokio_rustls::TlsAcceptor;

use crate::{Silence, opening::Opening, silence::Watched, tls::Peer};

/// How long requests may go on after the server was told to stop.
const PATIENCE: Duration = Duration::from_secs(1);
/// When no connection can be accepted, files are probably short, and trying again at once is no use.
const BREATH: Duration = Duration::from_millis(50);
/// Requests at the same time on one connection.
const STREAMS: u32 = 1000;

/// Limits of what clients may do.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Connections that are open at the same time; more have to wait.
    pub connections: usize,
    /// How long encrypting a connection may take.
    pub handshake: Duration,
    /// How long a client may take to say whether it speaks HTTP/1 or HTTP/2, and to send the head of its next
    /// request.
    pub head: Duration,
    pub silence: Silence,
    /// How often clients of HTTP/2 are asked whether they are still there.
    pub ping: Option<Duration>,
}

impl Default for Limits {
    /// Limits for clients that ask, read the answer and go: downloads may take long, but must not stand still.
    fn default() -> Self {
        Self {
            connections: 1024,
            handshake: Duration::from_secs(10),
            head: Duration::from_secs(10),
            silence: Silence::Short(Duration::from_mins(1)),
            ping: None,
        }
    }
}

/// A server that listens until it is shut down or dropped.
#[derive(Debug)]
pub struct Running {
    address: SocketAddr,
    stop: watch::Sender<()>,
    task: JoinHandle<()>,
}

impl Running {
    /// Where it listens; tells the port when any was asked for.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Accepts nothing more and lets running requests end for a moment.
    pub async fn shutdown(self) {
        let _ = self.stop.send(());
        let _ = self.task.await;
    }
}

/// Answers what arrives with the service that is made for each connection.
pub fn serve<S, B>(
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    limits: Limits,
    service: impl Fn(Peer) -> S + Send + Sync + 'static,
) -> std::io::Result<Running>
where
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible> + Send + 'static,
    S::Future: Send,
    B: Body<Data: Send, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static,
{
    let address = listener.local_addr()?;
    let (stop, stopped) = watch::channel(());
    let connections = Connections { service, tls, limits };
    let task = tokio::spawn(accept(listener, Arc::new(connections), stopped));
    Ok(Running { address, stop, task })
}

/// What every connection needs.
struct Connections<F> {
    service: F,
    tls: Option<TlsAcceptor>,
    limits: Limits,
}

async fn accept<F, S, B>(
    listener: TcpListener,
    connections: Arc<Connections<F>>,
    mut stop: watch::Receiver<()>,
) where
    F: Fn(Peer) -> S + Send + Sync + 'static,
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible> + Send + 'static,
    S::Future: Send,
    B: Body<Data: Send, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static,
{
    let slots = Arc::new(Semaphore::new(connections.limits.connections));
    let mut open = JoinSet::new();
    loop {
        let next = async {
            let slot = Arc::clone(&slots).acquire_owned().await;
            (slot, listener.accept().await)
        };
        tokio::select! {
            (slot, accepted) = next => match accepted {
                Ok((stream, _)) => {
                    let (connections, stop) = (Arc::clone(&connections), stop.clone());
                    open.spawn(async move {
                        connections.talk(stream, stop).await;
                        drop(slot);
                    });
                }
                Err(_) => sleep(BREATH).await,
            },
            Some(_) = open.join_next() => {}
            // Also when the server was dropped.
            _ = stop.changed() => break,
        }
    }
    drop(listener);
    let _ = timeout(PATIENCE, async { while open.join_next().await.is_some() {} }).await;
    open.shutdown().await;
}

impl<F, S, B> Connections<F>
where
    F: Fn(Peer) -> S,
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible> + Send + 'static,
    S::Future: Send,
    B: Body<Data: Send, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static,
{
    async fn talk(&self, stream: TcpStream, stop: watch::Receiver<()>) {
        let _ = stream.set_nodelay(true);
        let stream = Watched::new(stream, self.limits.silence);
        match &self.tls {
            None => self.answer(stream, Peer::default(), stop).await,
            Some(tls) => {
                let handshake = timeout(self.limits.handshake, tls.accept(stream)).await;
                if let Ok(Ok(stream)) = handshake {
                    let peer = Peer::of(&stream);
                    self.answer(stream, peer, stop).await;
                }
            }
        }
    }

    /// Answers requests until the client or the server has enough. Connections that break are their
    /// client's affair.
    async fn answer(
        &self,
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
        peer: Peer,
        mut stop: watch::Receiver<()>,
    ) {
        let mut builder = auto::Builder::new(TokioExecutor::new());
        builder.http1().timer(TokioTimer::new()).header_read_timeout(self.limits.head);
        let mut http2 = builder.http2();
        http2.timer(TokioTimer::new()).max_concurrent_streams(STREAMS);
        if let Some(ping) = self.limits.ping {
            http2.keep_alive_interval(ping).keep_alive_timeout(ping);
        }
        let service = (self.service)(peer);
        let stream = Opening::new(stream, self.limits.head);
        let mut connection = pin!(builder.serve_connection(TokioIo::new(stream), service));
        tokio::select! {
            _ = connection.as_mut() => return,
            _ = stop.changed() => {}
        }
        connection.as_mut().graceful_shutdown();
        let _ = connection.await;
    }
}

#[cfg(test)]
mod tests {
    use hyper::service::service_fn;
    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _},
        time::Instant,
    };

    use super::*;

    const HEAD: Duration = Duration::from_millis(200);
    /// Far more than anything takes.
    const LONG: Duration = Duration::from_secs(30);

    async fn start() -> Running {
        let limits = Limits {
            connections: 1,
            handshake: LONG,
            head: HEAD,
            silence: Silence::WhileAllIsRead(LONG),
            ping: None,
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        serve(listener, None, limits, |_| {
            service_fn(|_| async {
                // Longer than a client may take with its head.
                sleep(2 * HEAD).await;
                Ok::<_, Infallible>(Response::new("done".to_owned()))
            })
        })
        .expect("it listens")
    }

    /// Without this, one client that does nothing has the only place forever.
    #[tokio::test]
    async fn a_client_that_says_nothing_loses_its_place() {
        let running = start().await;
        let started = Instant::now();
        let mut silent = TcpStream::connect(running.address()).await.expect("it connects");
        let mut other = TcpStream::connect(running.address()).await.expect("it connects");
        let request = b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
        other.write_all(request).await.expect("it is sent");
        let mut answer = String::new();
        let read = timeout(LONG, other.read_to_string(&mut answer)).await;
        read.expect("it is answered").expect("it is text");
        assert!(answer.ends_with("done"), "{answer}");
        assert!(started.elapsed() >= HEAD);
        assert_eq!(silent.read(&mut [0]).await.unwrap_or_default(), 0);
        running.shutdown().await;
    }
}
