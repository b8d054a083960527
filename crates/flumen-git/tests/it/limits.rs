//! Servers that take too long, send too much, or are not wanted any more.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use flumen_fs::Bounds;
use flumen_git::{Error, GitReference, GitUrl, Limits, open};
use flumen_testkit::{GitServer, PATIENCE};

fn open_within(url: &str, limits: &Limits) -> Error {
    let url = GitUrl::parse(url).expect("an address");
    open(&url, &GitReference::Default, limits, &AtomicBool::new(false))
        .map(|checkout| checkout.commit)
        .expect_err("beyond the limits")
}

#[test]
fn silent_servers_are_left() {
    let Some(server) = GitServer::start("limits of fetching") else { return };
    let limits = Limits { time: Duration::from_millis(300), ..Limits::default() };
    let error = open_within(&server.url("stalled/org/app"), &limits);
    assert!(matches!(error, Error::TimedOut { .. }), "{error:?}");
}

#[test]
fn cancelling_ends_the_wait() {
    let Some(server) = GitServer::start("cancelling a fetch") else { return };
    let cancel = Arc::new(AtomicBool::new(false));
    let url = GitUrl::parse(&server.url("stalled/org/app")).expect("an address");
    let fetching = {
        let cancel = Arc::clone(&cancel);
        thread::spawn(move || {
            open(&url, &GitReference::Default, &Limits::default(), &cancel).map(|it| it.commit)
        })
    };
    let begin = Instant::now();
    while server.requests().is_empty() {
        assert!(begin.elapsed() < PATIENCE, "the server is never asked");
        thread::sleep(Duration::from_millis(10));
    }
    cancel.store(true, Ordering::Relaxed);
    let error = fetching.join().expect("no panic").expect_err("cancelled");
    assert!(matches!(error, Error::Cancelled { .. }), "{error:?}");
}

#[test]
fn endless_answers_are_cut() {
    let Some(server) = GitServer::start("limits of fetching") else { return };
    let limits = Limits { bytes: 1 << 20, ..Limits::default() };
    let error = open_within(&server.url("endless/org/app"), &limits);
    assert!(matches!(error, Error::TooLarge { .. } | Error::NotARepository { .. }), "{error:?}");
}

#[test]
fn large_repositories_are_refused() {
    let Some(server) = GitServer::start("limits of fetching") else { return };
    let repository = server.create_repository("org/app");
    let numbers = (0..40_000_u32).map(|n| n.wrapping_mul(2_654_435_761).to_string());
    let noise = numbers.collect::<Vec<_>>().join("\n");
    repository.commit(&[("a", "1"), ("b", "2"), ("noise", &noise)]);
    let url = server.url("org/app");

    let error = open_within(&url, &Limits { bytes: 20_000, ..Limits::default() });
    assert!(matches!(error, Error::TooLarge { limit: 20_000, .. }), "{error:?}");
    let error = open_within(&url, &Limits { objects: 4, ..Limits::default() });
    assert!(matches!(error, Error::TooManyObjects { limit: 4, .. }), "{error:?}");
}

/// A change that hits the server's remarks about its progress does no harm; any other is noticed.
#[test]
fn damaged_packs_are_refused() {
    let Some(server) = GitServer::start("damaged packs") else { return };
    let repository = server.create_repository("org/app");
    let text = (0..200).map(|n| n.to_string()).collect::<Vec<_>>().join("\n");
    repository.commit(&[("a", &text), ("d/b", &text.replace('7', "x")), ("d/e/c", "short\n")]);
    let mut refused = 0;
    for place in (0..1000).step_by(37) {
        let url = GitUrl::parse(&server.url(&format!("damaged-{place}/org/app")));
        let url = url.expect("an address");
        let no = AtomicBool::new(false);
        match open(&url, &GitReference::Default, &Limits::default(), &no) {
            Err(Error::Broken { .. } | Error::TooManyObjects { .. }) => refused += 1,
            Err(error) => panic!("{place}: {error:?}"),
            Ok(checkout) => {
                let file = checkout.tree.read(&checkout.root.join("a"), Bounds::Anywhere);
                assert_eq!(file.expect("a file"), text.as_bytes(), "{place}");
            }
        }
    }
    assert!(refused > 20, "{refused} of 28");
}
