//! Connections that give up on clients that do nothing.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{Instant, Sleep, sleep},
};

/// How long a client may do nothing.
#[derive(Clone, Copy, Debug)]
pub enum Silence {
    /// Neither direction may stand still for longer. This bounds every way in which a client can hold
    /// a connection without using it: half a request, a body that stops, an answer that is never read.
    Short(Duration),
    /// An answer may not be left unread for longer. Apart from that a connection may be silent for
    /// hours, as one is that watches.
    WhileAllIsRead(Duration),
}

impl Silence {
    const fn limit(self) -> Duration {
        match self {
            Self::Short(limit) | Self::WhileAllIsRead(limit) => limit,
        }
    }

    const fn counts_reading(self) -> bool {
        matches!(self, Self::Short(_))
    }
}

/// A stream that fails after too much silence.
#[derive(Debug)]
pub(crate) struct Watched<S> {
    stream: S,
    silence: Silence,
    deadline: Pin<Box<Sleep>>,
    /// Whether something waits to be read by the client, and the deadline is that of now.
    is_unread: bool,
}

impl<S> Watched<S> {
    pub(crate) fn new(stream: S, silence: Silence) -> Self {
        Self { stream, silence, deadline: Box::pin(sleep(silence.limit())), is_unread: false }
    }

    /// Notes progress, or fails when there was none for too long.
    fn watch<T>(
        &mut self,
        context: &mut Context<'_>,
        result: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        match self.silence {
            // The other direction may wait already, and relies on being woken.
            Silence::Short(_) if result.is_ready() => self.begin_anew(),
            Silence::Short(_) => {}
            Silence::WhileAllIsRead(_) => {
                if result.is_pending() && !self.is_unread {
                    self.begin_anew();
                }
                self.is_unread = result.is_pending();
            }
        }
        if result.is_pending() && self.deadline.as_mut().poll(context).is_ready() {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        result
    }

    fn begin_anew(&mut self) {
        self.deadline.as_mut().reset(Instant::now() + self.silence.limit());
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Watched<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let result = Pin::new(&mut self.stream).poll_read(context, buffer);
        if self.silence.counts_reading() { self.watch(context, result) } else { result }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Watched<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.watch(context, result)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write_vectored(context, pieces);
        self.watch(context, result)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    // A flush of nothing succeeds at once and says nothing about the client.
    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _, duplex},
        time::{advance, timeout},
    };

    use super::*;

    const LIMIT: Duration = Duration::from_secs(10);

    #[tokio::test(start_paused = true)]
    async fn half_a_request_is_given_up() {
        let (mut client, server) = duplex(64);
        let mut server = Watched::new(server, Silence::Short(LIMIT));
        client.write_all(b"GET").await.expect("writes");
        let mut read = [0; 64];
        assert_eq!(server.read(&mut read).await.expect("reads"), 3);
        // Progress begins the time anew.
        advance(LIMIT / 2).await;
        client.write_all(b" /").await.expect("writes");
        assert_eq!(server.read(&mut read).await.expect("reads"), 2);
        let started = Instant::now();
        let error = server.read(&mut read).await.expect_err("gives up");
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert_eq!(started.elapsed().as_secs(), LIMIT.as_secs());
    }

    #[tokio::test(start_paused = true)]
    async fn a_watch_may_be_silent_but_must_be_read() {
        let (_client, server) = duplex(64);
        let mut server = Watched::new(server, Silence::WhileAllIsRead(LIMIT));
        let mut read = [0; 64];
        timeout(100 * LIMIT, server.read(&mut read)).await.expect_err("still waits");
        let error = server.write_all(&[0; 65]).await.expect_err("gives up");
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }
}
