//! HTTP to the API server with all rights.

use std::io;

use reqwest::{Certificate, Client, Identity, Method};

use crate::{background::Background, certificate, process::PATIENCE};

/// A client of one API server.
#[derive(Debug)]
pub(super) struct Admin {
    client: Client,
    server: String,
    background: Background,
}

impl Admin {
    pub(super) fn new(
        server: &str,
        authority: &str,
        identity: &certificate::Identity,
    ) -> io::Result<Self> {
        Ok(Self {
            client: client(authority, Some(identity))?,
            server: server.to_owned(),
            background: Background::start()?,
        })
    }

    /// One request: the status and the text of the answer.
    pub(super) fn request(
        &self,
        method: Method,
        path: &str,
        body: String,
    ) -> io::Result<(u16, String)> {
        let request = self.client.request(method, format!("{}{path}", self.server));
        let request =
            request.header("content-type", "application/json").body(body).timeout(PATIENCE);
        let answer = self.background.run(async move {
            let answer = request.send().await?;
            Ok((answer.status().as_u16(), answer.text().await?))
        })?;
        answer.map_err(|error: reqwest::Error| io::Error::other(error))
    }
}

/// A client that trusts one authority only and hands on what it is told, redirections included.
pub(super) fn client(
    authority: &str,
    identity: Option<&certificate::Identity>,
) -> io::Result<Client> {
    let make = || {
        let authority = Certificate::from_pem(authority.as_bytes())?;
        let mut client = Client::builder()
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .tls_certs_only([authority]);
        if let Some(identity) = identity {
            let pem = format!("{}{}", identity.key, identity.certificate);
            client = client.identity(Identity::from_pem(pem.as_bytes())?);
        }
        client.build()
    };
    make().map_err(io::Error::other)
}
