//! The beginning of a connection, which tells what is spoken on it.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{Sleep, sleep},
};

/// How clients of HTTP/2 begin; whoever begins otherwise speaks HTTP/1.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// A stream that fails unless the client says in time what it speaks. Later silence is the affair of those who
/// understand what is spoken; before, nobody else looks at the clock.
#[derive(Debug)]
pub(crate) struct Opening<S> {
    stream: S,
    /// None as soon as it is known what is spoken.
    deadline: Option<Pin<Box<Sleep>>>,
    /// How much of the preface has come.
    matched: usize,
}

impl<S> Opening<S> {
    pub(crate) fn new(stream: S, patience: Duration) -> Self {
        Self { stream, deadline: Some(Box::pin(sleep(patience))), matched: 0 }
    }

    fn take_in(&mut self, bytes: &[u8]) {
        let rest = PREFACE.get(self.matched..).unwrap_or_default();
        let known = bytes.iter().zip(rest).take_while(|(found, wanted)| found == wanted).count();
        self.matched += known;
        if known < bytes.len() || bytes.is_empty() || self.matched == PREFACE.len() {
            self.deadline = None;
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Opening<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let result = Pin::new(&mut self.stream).poll_read(context, buffer);
        let Some(deadline) = &mut self.deadline else { return result };
        match result {
            Poll::Ready(Ok(())) => {
                let bytes = buffer.filled().get(before..).unwrap_or_default();
                self.take_in(bytes);
            }
            Poll::Pending if deadline.as_mut().poll(context).is_ready() => {
                return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
            }
            _ => {}
        }
        result
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Opening<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, pieces)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

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
        time::timeout,
    };

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(10);

    /// Whether a client that begins so and then says nothing is given up.
    async fn is_given_up(beginning: &[u8]) -> bool {
        let (mut client, server) = duplex(64);
        let mut server = Opening::new(server, PATIENCE);
        client.write_all(beginning).await.expect("writes");
        let mut read = vec![0; beginning.len()];
        server.read_exact(&mut read).await.expect("reads");
        match timeout(100 * PATIENCE, server.read(&mut [0])).await {
            Ok(Err(error)) => error.kind() == io::ErrorKind::TimedOut,
            Ok(Ok(_)) => panic!("nothing was sent"),
            Err(_) => false,
        }
    }

    #[tokio::test(start_paused = true)]
    async fn only_who_says_nothing_is_given_up() {
        assert!(is_given_up(b"").await);
        assert!(is_given_up(b"PRI * HTTP/2.0\r\n").await);
        assert!(!is_given_up(b"PUT").await);
        assert!(!is_given_up(b"GET / HTTP/1.1\r\n\r\n").await);
        assert!(!is_given_up(PREFACE).await);
    }
}
