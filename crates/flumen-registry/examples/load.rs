//! Measures a registry: pushes and pulls of small artifacts per second.
//!
//! `cargo run --release -p flumen-registry --example load -- http://127.0.0.1:5000 [COUNT] [CLIENTS] [BYTES]`
//!
//! Pushes as most clients do: begin an upload, send all of the layer, then the manifest. Every
//! layer differs from all others, also from those of earlier runs.

use std::{
    env,
    error::Error,
    io::Write as _,
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};

use reqwest::{Client, Method, Response, header};
use serde_json::json;
use sha2::{Digest as _, Sha256};
use tokio::task::JoinSet;

const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const REPOSITORY: &str = "bench/load";
const CONFIG: &[u8] = b"{}";

type Failure = Box<dyn Error + Send + Sync>;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let mut arguments = env::args().skip(1);
    let base = arguments.next().ok_or("the address of a registry is missing")?;
    let mut number = |default| arguments.next().map_or(Ok(default), |text| text.parse::<usize>());
    let (count, clients, size) = (number(400)?, number(8)?, number(1 << 20)?);

    let seed = SystemTime::UNIX_EPOCH.elapsed()?.as_secs();
    let load = Arc::new(Load { client: Client::new(), base, clients, size, seed });
    load.push_blob(CONFIG.to_vec()).await?;

    let pushed = load.clone().timed(count, |load, index| async move { load.push(index).await });
    let pushed = pushed.await?;
    let pulled = load.clone().timed(count, |load, index| async move { load.pull(index).await });
    let pulled = pulled.await?;
    let artifacts = f64::from(u32::try_from(count)?);
    let rate = |time: Duration| (artifacts / time.as_secs_f64()).round();
    let result = json!({
        "artifacts": count, "clients": clients, "bytes": size,
        "pushes/s": rate(pushed), "pulls/s": rate(pulled),
    });
    writeln!(std::io::stdout(), "{result}")?;
    Ok(())
}

struct Load {
    client: Client,
    base: String,
    clients: usize,
    size: usize,
    seed: u64,
}

impl Load {
    /// Does the work `count` times with several clients at once.
    async fn timed<F, W>(self: Arc<Self>, count: usize, work: W) -> Result<Duration, Failure>
    where
        F: Future<Output = Result<(), Failure>> + Send + 'static,
        W: Fn(Arc<Self>, usize) -> F + Copy + Send + 'static,
    {
        #[expect(clippy::disallowed_methods, reason = "time is what is measured")]
        let begin = Instant::now();
        let mut running = JoinSet::new();
        for client in 0..self.clients {
            let load = self.clone();
            running.spawn(async move {
                for index in (client..count).step_by(load.clients) {
                    work(load.clone(), index).await?;
                }
                Ok::<(), Failure>(())
            });
        }
        while let Some(result) = running.join_next().await {
            result??;
        }
        Ok(begin.elapsed())
    }

    async fn push(&self, index: usize) -> Result<(), Failure> {
        // Random enough that no file system stores less of it, cheap enough not to be measured.
        let mut layer = Vec::with_capacity(self.size);
        let mut state =
            ((self.seed << 32) | (index as u64 + 1)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        while layer.len() < self.size {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            layer.extend_from_slice(&state.to_le_bytes());
        }
        layer.truncate(self.size);
        let digest = self.push_blob(layer).await?;
        let manifest = json!({
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "config": {
                "mediaType": "application/vnd.oci.image.config.v1+json",
                "digest": digest_of(CONFIG), "size": CONFIG.len(),
            },
            "layers": [{
                "mediaType": "application/vnd.oci.image.layer.v1.tar",
                "digest": digest, "size": self.size,
            }],
        });
        let url = format!("{}/v2/{REPOSITORY}/manifests/{}", self.base, self.tag(index));
        let request = self.client.put(url).header(header::CONTENT_TYPE, MANIFEST);
        request.body(manifest.to_string()).send().await?.error_for_status()?;
        Ok(())
    }

    fn tag(&self, index: usize) -> String {
        format!("t{}-{index}", self.seed)
    }

    async fn push_blob(&self, content: Vec<u8>) -> Result<String, Failure> {
        let digest = digest_of(&content);
        let url = format!("{}/v2/{REPOSITORY}/blobs/uploads/", self.base);
        let begun = self.client.post(url).send().await?.error_for_status()?;
        let location = location(&begun, &self.base)?;
        let joint = if location.contains('?') { '&' } else { '?' };
        let url = format!("{location}{joint}digest={digest}");
        let request = self.client.put(url).header(header::CONTENT_TYPE, "application/octet-stream");
        request.body(content).send().await?.error_for_status()?;
        Ok(digest)
    }

    async fn pull(&self, index: usize) -> Result<(), Failure> {
        let url = format!("{}/v2/{REPOSITORY}/manifests/{}", self.base, self.tag(index));
        let request = self.client.request(Method::GET, url).header(header::ACCEPT, MANIFEST);
        let manifest = request.send().await?.error_for_status()?.bytes().await?;
        let manifest: serde_json::Value = serde_json::from_slice(&manifest)?;
        let digest = manifest["layers"][0]["digest"].as_str().ok_or("no layer")?;
        let url = format!("{}/v2/{REPOSITORY}/blobs/{digest}", self.base);
        let mut blob = self.client.get(url).send().await?.error_for_status()?;
        let mut received = 0;
        while let Some(piece) = blob.chunk().await? {
            received += piece.len();
        }
        if received == self.size { Ok(()) } else { Err("the layer is not whole".into()) }
    }
}

fn digest_of(content: &[u8]) -> String {
    format!("sha256:{:x}", Sha256::digest(content))
}

fn location(response: &Response, base: &str) -> Result<String, Failure> {
    let location = response.headers().get(header::LOCATION).ok_or("no location")?.to_str()?;
    Ok(if location.starts_with('/') { format!("{base}{location}") } else { location.to_owned() })
}
