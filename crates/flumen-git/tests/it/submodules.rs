//! Repositories in repositories, and parts of repositories.

use std::{path::PathBuf, sync::atomic::AtomicBool};

use flumen_fs::{Bounds, FsError};
use flumen_git::{
    Access, Authorization, Checkout, Client, Error, GitReference, GitUrl, Limits, Selection,
};
use flumen_testkit::{GitRepository, GitServer};

/// `org/app` has `org/lib` as `modules/lib`, which has `org/deep` as `deep`; and a submodule elsewhere.
struct Fixture {
    server: GitServer,
    app: GitRepository,
}

impl Fixture {
    fn new() -> Option<Self> {
        let server = GitServer::start("submodules")?;
        let deep = server.create_repository("org/deep");
        let deep_commit = deep.commit(&[("deep.yaml", "deep\n")]);
        let lib = server.create_repository("org/lib");
        add(&lib, &[("deep", "../deep", &deep_commit)]);
        let lib_commit = lib.commit(&[("lib.yaml", "lib\n")]);
        let later = lib.commit(&[("lib.yaml", "later\n")]);
        assert_ne!(lib_commit, later);
        let app = server.create_repository("org/app");
        app.commit(&[("app.yaml", "app\n"), ("other/o.yaml", "o\n"), ("others/x.yaml", "x\n")]);
        add(&app, &[("modules/lib", "../lib", &lib_commit)]);
        Some(Self { server, app })
    }

    fn open(&self, path: &str, selection: &Selection) -> Result<Checkout, Error> {
        self.open_within(path, selection, Limits::default())
    }

    fn open_within(
        &self,
        path: &str,
        selection: &Selection,
        limits: Limits,
    ) -> Result<Checkout, Error> {
        let (username, password) = ("me".to_owned(), "secret".to_owned());
        let authorization = Some(Authorization::Basic { username, password });
        let client = Client::new(Access { authorization, ..Access::default() }, limits);
        let url = GitUrl::parse(&self.server.url(path)).expect("an address");
        client.open(&url, &GitReference::Default, selection, &AtomicBool::new(false))
    }
}

/// Commits submodules as Git keeps them; their files are not needed for that.
fn add(repository: &GitRepository, modules: &[(&str, &str, &str)]) {
    let section = |(path, url, _): &(&str, &str, &str)| {
        format!("[submodule \"{path}\"]\n\tpath = {path}\n\turl = {url}\n")
    };
    let list: String = modules.iter().map(section).collect();
    repository.commit(&[(".gitmodules", &list)]);
    for (path, _, commit) in modules {
        let entry = format!("160000,{commit},{path}");
        repository.git(&["update-index", "--add", "--cacheinfo", &entry]);
    }
    repository.git(&["commit", "--quiet", "--message=submodules"]);
    // Whoever commits again must not find them gone.
    for (path, _, _) in modules {
        std::fs::create_dir_all(repository.path().join(path)).expect("a directory");
    }
}

fn read(checkout: &Checkout, path: &str) -> Result<String, FsError> {
    let path = checkout.root.join(path);
    let bytes = checkout.tree.read(&path, Bounds::Within(&checkout.root))?;
    Ok(String::from_utf8(bytes).expect("text"))
}

fn all() -> Selection {
    Selection { submodules: true, ..Selection::default() }
}

fn only(directories: &[&str]) -> Selection {
    let directories = directories.iter().map(PathBuf::from).collect();
    Selection { directories, ..Selection::default() }
}

#[test]
fn submodules_are_part_of_the_tree() {
    let Some(fixture) = Fixture::new() else { return };
    for path in ["org/app", "v0/org/app", "private/org/app"] {
        let checkout = fixture.open(path, &all()).expect(path);
        assert_eq!(read(&checkout, "app.yaml").expect(path), "app\n");
        assert_eq!(read(&checkout, "modules/lib/lib.yaml").expect(path), "lib\n");
        assert_eq!(read(&checkout, "modules/lib/deep/deep.yaml").expect(path), "deep\n");
        let place = checkout.root.join("modules/lib");
        let names = checkout.tree.list(&place).expect("names");
        assert_eq!(names, [".gitmodules", "deep", "lib.yaml"]);
        assert_eq!(checkout.tree.real_dir(&place).expect("a directory"), place);
    }
    let without = fixture.open("org/app", &Selection::default()).expect("a repository");
    assert!(read(&without, "modules/lib/lib.yaml").is_err());
}

#[test]
fn submodules_share_the_limits() {
    let Some(fixture) = Fixture::new() else { return };
    let alone = Limits { objects: 9, ..Limits::default() };
    fixture.open_within("org/app", &Selection::default(), alone.clone()).expect("within");
    let error = fixture.open_within("org/app", &all(), alone).expect_err("beyond");
    assert!(matches!(error, Error::TooManyObjects { limit: 9, .. }), "{error:?}");
}

#[test]
fn submodules_stay_on_servers() {
    let Some(fixture) = Fixture::new() else { return };
    let secret = fixture.server.create_repository("org/secret");
    let commit = secret.commit(&[("s", "s")]);
    let path = secret.path().display().to_string();
    for (url, reason) in [
        (path.as_str(), "is on this machine, and the repository is not"),
        ("../../../../up", "has an address that leads nowhere"),
        ("ext::sh -c date", "has an address that cannot be read"),
    ] {
        let hostile = fixture.server.create_repository("org/hostile");
        add(&hostile, &[("module", url, &commit)]);
        let error = fixture.open("org/hostile", &all()).expect_err(url);
        let Error::Submodule { path, reason: told, .. } = &error else { panic!("{error:?}") };
        assert_eq!((path.as_str(), *told), ("module", reason));
        std::fs::remove_dir_all(hostile.path()).expect("removed");
    }
}

#[test]
fn credentials_are_not_for_submodules_elsewhere() {
    let Some(fixture) = Fixture::new() else { return };
    let commit = fixture.app.git(&["rev-parse", "HEAD"]);
    let outer = fixture.server.create_repository("org/outer");
    let elsewhere = format!("http://localhost:{}/org/app", fixture.server.port());
    add(&outer, &[("app", &elsewhere, &commit)]);
    fixture.open("private/org/outer", &all()).expect("a repository");
    let requests = fixture.server.requests();
    let (own, other): (Vec<_>, Vec<_>) = requests.iter().partition(|it| it.contains("private"));
    assert!(own.iter().all(|request| request.ends_with("with credentials")), "{own:?}");
    assert!(!other.is_empty());
    assert!(other.iter().all(|request| !request.contains("with credentials")), "{other:?}");
}

#[test]
fn directories_are_selected() {
    let Some(fixture) = Fixture::new() else { return };
    for directory in ["other", "./other", "other/", "other/o.yaml"] {
        let checkout = fixture.open("org/app", &only(&[directory])).expect(directory);
        assert_eq!(read(&checkout, "other/o.yaml").expect(directory), "o\n");
        for hidden in ["app.yaml", "others/x.yaml"] {
            let outcome = read(&checkout, hidden);
            assert!(matches!(outcome, Err(FsError::NotFound { .. })), "{hidden}: {outcome:?}");
        }
        assert_eq!(checkout.tree.list(&checkout.root).expect("names"), ["other"]);
    }
    for everything in ["", ".", "./"] {
        let checkout = fixture.open("org/app", &only(&[everything])).expect("all");
        assert_eq!(read(&checkout, "app.yaml").expect("all"), "app\n");
    }
    let error = fixture.open("org/app", &only(&["other", "none/at/all"])).expect_err("no such");
    let expected = "sparse checkout dir 'none/at/all' does not exist in repository";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn submodules_that_are_not_selected_are_not_fetched() {
    let Some(fixture) = Fixture::new() else { return };
    let selection = Selection { submodules: true, ..only(&["other"]) };
    fixture.open("org/app", &selection).expect("a repository");
    let requests = fixture.server.requests();
    assert!(!requests.iter().any(|request| request.contains("org/lib")), "{requests:?}");
    let selection = Selection { submodules: true, ..only(&["./modules/lib/deep"]) };
    let checkout = fixture.open("org/app", &selection).expect("a repository");
    assert_eq!(read(&checkout, "modules/lib/deep/deep.yaml").expect("selected"), "deep\n");
    assert!(read(&checkout, "modules/lib/lib.yaml").is_err());
}
