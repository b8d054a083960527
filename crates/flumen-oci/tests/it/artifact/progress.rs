//! What those see who watch artifacts on their way.

use std::sync::{Arc, Mutex};

use flumen_archive::PathOptions;
use flumen_oci::{
    Observer, Repository, Watch,
    artifact::{Packed, PullOptions, pack_path, pull_to_dir},
    client::{ClientOptions, Registry},
};

use super::{TestRegistry, metadata, tag};
use crate::stub::{Stub, reply};

/// Adds up what it is told.
#[derive(Clone, Debug, Default)]
struct Tally(Arc<Mutex<Sums>>);

#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    found: u64,
    done: u64,
    lost: u64,
    steps: usize,
}

impl Tally {
    fn sums(&self) -> Sums {
        *self.0.lock().expect("no panic")
    }

    fn watch(&self) -> Watch {
        Watch::by(self.clone())
    }
}

impl Observer for Tally {
    fn found(&self, bytes: u64) {
        self.0.lock().expect("no panic").found += bytes;
    }

    fn done(&self, bytes: u64) {
        let mut sums = self.0.lock().expect("no panic");
        sums.done += bytes;
        sums.steps += 1;
    }

    fn lost(&self, bytes: u64) {
        self.0.lock().expect("no panic").lost += bytes;
    }
}

/// An artifact of more than two megabytes that do not compress.
fn large() -> Packed {
    let dir = tempfile::tempdir().expect("scratch directory");
    let mut state = 1_u64;
    let noise: Vec<u8> = std::iter::repeat_with(|| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 56).to_le_bytes()[0]
    })
    .take(2 << 20)
    .collect();
    std::fs::write(dir.path().join("noise"), noise).expect("a file");
    pack_path(dir.path(), &PathOptions::default(), &metadata()).expect("packed")
}

fn size(packed: &Packed) -> u64 {
    packed.blobs.iter().map(|(descriptor, _)| descriptor.size).sum()
}

#[tokio::test]
async fn pushing_and_pulling_are_seen_piece_by_piece() {
    let registry = TestRegistry::start().await;
    let (repository, packed) = (registry.repository(), large());
    let pushed = Tally::default();
    packed.push_watched(&repository, Some("v1"), &pushed.watch()).await.expect("pushed");
    let sums = pushed.sums();
    assert_eq!((sums.found, sums.done, sums.lost), (size(&packed), size(&packed), 0));
    assert!(sums.steps > 8, "{sums:?}");

    let again = Tally::default();
    packed.push_watched(&repository, Some("v2"), &again.watch()).await.expect("pushed");
    let sums = again.sums();
    assert_eq!((sums.done, sums.steps), (size(&packed), 2), "what is there need not travel");

    let pulled = Tally::default();
    let options = PullOptions { watch: pulled.watch(), ..PullOptions::default() };
    let dir = tempfile::tempdir().expect("scratch directory");
    pull_to_dir(&repository, &tag("v1"), dir.path(), &options).await.expect("pulled");
    let (sums, layer) = (pulled.sums(), packed.blobs[0].0.size);
    assert_eq!((sums.found, sums.done, sums.lost), (layer, layer, 0));
    assert!(sums.steps > 8, "{sums:?}");
}

#[tokio::test]
async fn what_travels_twice_is_taken_back_once() {
    let stub = Stub::start(|seen, _| match seen.method.as_str() {
        "HEAD" => reply(404),
        "POST" => reply(202).with("Location", "/upload/1"),
        "PATCH" => reply(202).with("Location", "/upload/2"),
        // The large layer has to come in pieces.
        _ if seen.body.len() > 1 << 20 => reply(413),
        _ => reply(201),
    })
    .await;
    let options = ClientOptions { insecure: true, ..ClientOptions::default() };
    let registry = Registry::new(stub.host(), &options).expect("a client");
    let repository = Repository::Remote(registry.repository("org/app"));
    let (packed, tally) = (large(), Tally::default());
    packed.push_watched(&repository, Some("v1"), &tally.watch()).await.expect("pushed");
    let sums = tally.sums();
    assert_eq!(sums.lost, packed.blobs[0].0.size);
    assert_eq!(sums.done - sums.lost, size(&packed));
}
