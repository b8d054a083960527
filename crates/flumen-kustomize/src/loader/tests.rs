use flumen_fs::MemoryTree;

use super::*;

/// `/app` is the build; `/base` and `/outside.yaml` lie beside it.
fn tree() -> MemoryTree {
    let mut tree = MemoryTree::new();
    tree.insert_file("/app/deploy.yaml", "a");
    tree.insert_file("/app/sub/x.yaml", "x");
    tree.insert_file("/base/b.yaml", "b");
    tree.insert_file("/outside.yaml", "o");
    tree.insert_link("/app/link.yaml", "../outside.yaml");
    tree.insert_link("/app/sub/up.yaml", "../deploy.yaml");
    tree.insert_link("/app/loop", "loop");
    tree.insert_link("/app/linked", "/base");
    tree
}

fn loader_at(path: &str, restriction: LoadRestriction) -> Result<Loader> {
    Loader::open(Arc::new(tree()), Path::new(path), restriction, None)
}

fn app() -> Loader {
    loader_at("/app", LoadRestriction::RootOnly).expect("a directory")
}

#[track_caller]
fn check_read(loader: &Loader, path: &str, expected: std::result::Result<&str, &str>) {
    let got = loader.read(path);
    let got = got.as_ref().map(|file| file.content.as_bytes()).map_err(ToString::to_string);
    let expected = expected.map(str::as_bytes).map_err(str::to_owned);
    assert_eq!(got, expected, "reading {path:?}");
}

#[track_caller]
fn check_enter(loader: &Loader, path: &str, expected: std::result::Result<&str, &str>) {
    let got = loader.enter(path);
    let got = got.as_ref().map(|loader| &**loader.root()).map_err(ToString::to_string);
    let expected = expected.map(Path::new).map_err(str::to_owned);
    assert_eq!(got, expected, "entering {path:?}");
}

#[test]
fn files_are_read_in_and_below_the_root() {
    check_read(&app(), "deploy.yaml", Ok("a"));
    check_read(&app(), "./sub/../deploy.yaml", Ok("a"));
    check_read(&app(), "/app/sub/x.yaml", Ok("x"));
    check_read(&app(), "sub/up.yaml", Ok("a"));
}

#[test]
fn files_elsewhere_are_refused() {
    const OUTSIDE: &str = "security; file '/outside.yaml' is not in or below '/app'";
    check_read(&app(), "../outside.yaml", Err(OUTSIDE));
    check_read(&app(), "/outside.yaml", Err(OUTSIDE));
    let link = "security; file '/app/link.yaml' is not in or below '/app'";
    check_read(&app(), "link.yaml", Err(link));
}

#[test]
fn restrictions_can_be_lifted() {
    let loader = loader_at("/app", LoadRestriction::None).expect("a directory");
    check_read(&loader, "../outside.yaml", Ok("o"));
    check_read(&loader, "link.yaml", Ok("o"));
    check_read(&loader, "no.yaml", Err("open /app/no.yaml: no such file or directory"));
    check_read(&loader, "sub", Err("read /app/sub: is a directory"));
}

#[test]
fn a_cached_file_is_refused_to_another_root() {
    let app = app();
    check_read(&app, "sub/up.yaml", Ok("a"));
    let sub = app.enter("sub").expect("a directory");
    check_read(
        &sub,
        "up.yaml",
        Err("security; file '/app/sub/up.yaml' is not in or below '/app/sub'"),
    );
}

#[test]
fn unreadable_files_have_a_reason() {
    let missing =
        "evalsymlink failure on '/app/no/x.yaml' : lstat /app/no: no such file or directory";
    check_read(&app(), "no/x.yaml", Err(missing));
    check_read(&app(), "sub", Err("'/app/sub' must resolve to a file"));
    check_read(&app(), "", Err("'/app' must resolve to a file"));
    let through = "evalsymlink failure on '/app/deploy.yaml/x' : not a directory";
    check_read(&app(), "deploy.yaml/x", Err(through));
    check_read(
        &app(),
        "loop",
        Err("evalsymlink failure on '/app/loop' : EvalSymlinks: too many links"),
    );
}

#[test]
fn misspelled_files_are_pointed_out() {
    let error = app().read("sub/xx.yaml").expect_err("no such file");
    assert_eq!(error.hint_text(), Some("did you mean `x.yaml`?"));
    let error = app().read("deplo.yaml").expect_err("no such file");
    assert_eq!(error.hint_text(), Some("did you mean `deploy.yaml`?"));
}

#[test]
fn directories_are_entered_by_their_real_path() {
    check_enter(&app(), "../base", Ok("/base"));
    check_enter(&app(), "linked", Ok("/base"));
    check_enter(&app(), "sub/", Ok("/app/sub"));
}

#[test]
fn only_directories_are_entered() {
    const NO: &str = "must build at directory: ";
    check_enter(&app(), "", Err("new root cannot be empty"));
    check_enter(&app(), "/base", Err("new root '/base' cannot be absolute"));
    check_enter(
        &app(),
        "deploy.yaml",
        Err(&format!("{NO}'/app/deploy.yaml': file is not directory")),
    );
    check_enter(
        &app(),
        "../no",
        Err(&format!(
            "{NO}not a valid directory: evalsymlink failure on '/no' : lstat /no: no such file or \
             directory"
        )),
    );
}

#[test]
fn cycles_are_found_anywhere_on_the_way() {
    let cycle = |candidate, visited| {
        format!("cycle detected: candidate root '{candidate}' contains visited root '{visited}'")
    };
    check_enter(&app(), ".", Err(&cycle("/app", "/app")));
    check_enter(&app(), "..", Err(&cycle("/", "/app")));
    let base = app().enter("../base").expect("a directory");
    check_enter(&base, "../app", Err(&cycle("/app", "/app")));
    check_enter(&base, "../app/sub", Ok("/app/sub"));
}

#[test]
fn nesting_is_bounded() {
    let mut tree = MemoryTree::new();
    let path: String = "/d".repeat(MAX_DEPTH + 2);
    tree.insert_dir(&path);
    let mut loader = Loader::open(Arc::new(tree), Path::new("/d"), LoadRestriction::RootOnly, None)
        .expect("open");
    for _ in 0..MAX_DEPTH {
        loader = loader.enter("d").expect("not too deep");
    }
    let error = loader.enter("d").expect_err("too deep").to_string();
    assert!(error.contains("nested more than 200"), "{error}");
}

#[test]
fn the_number_of_kustomizations_is_bounded() {
    let app = app();
    for _ in 0..MAX_ENTERED {
        app.enter("sub").expect("not too many");
    }
    let error = app.enter("sub").expect_err("too many").to_string();
    assert!(error.contains("more than 10000 kustomizations"), "{error}");
}

#[test]
fn remote_places_are_refused() {
    let message = "'https://host/x.yaml' is remote; a build contacts no network";
    check_read(&app(), "https://me:secret@host/x.yaml?token=t", Err(message));
    let message = "'github.com/org/repo' is remote; a build contacts no network";
    check_enter(&app(), "github.com/org/repo", Err(message));
    let error = loader_at("git@host:org/repo", LoadRestriction::RootOnly).expect_err("remote");
    assert!(error.to_string().contains("is remote"), "{error}");
}

#[test]
fn a_build_starts_at_a_directory() {
    let message =
        |path| loader_at(path, LoadRestriction::RootOnly).expect_err("no root").to_string();
    assert_eq!(message(""), "must build at directory: directory path cannot be empty");
    assert_eq!(
        message("/app/deploy.yaml"),
        "must build at directory: '/app/deploy.yaml': file is not directory"
    );
}

#[test]
fn resources_are_files_or_directories() {
    let app = app();
    assert!(matches!(app.resource("deploy.yaml"), Ok(Entry::File(_))));
    assert!(matches!(app.resource("../base"), Ok(Entry::Directory(_))));
    let message = |path| app.resource(path).expect_err(path).to_string();
    assert_eq!(
        message("no"),
        "accumulating resources from 'no': evalsymlink failure on '/app/no' : lstat /app/no: no \
         such file or directory"
    );
    assert_eq!(
        message("../outside.yaml"),
        "accumulating resources from '../outside.yaml': security; file '/outside.yaml' is not in \
         or below '/app'"
    );
    assert_eq!(message("/base"), "new root '/base' cannot be absolute");
    assert!(message(".").starts_with("cycle detected"));
    assert_eq!(message(""), "new root cannot be empty");
    assert!(message("github.com/a/b").ends_with("a build contacts no network"));
}

#[test]
fn a_local_file_wins_over_a_repository_and_a_repository_over_a_directory() {
    let mut tree = tree();
    tree.insert_file("/app/github.com/a/file", "f");
    tree.insert_dir("/app/github.com/a/dir");
    let app = Loader::open(Arc::new(tree), Path::new("/app"), LoadRestriction::RootOnly, None);
    let app = app.expect("a directory");
    assert!(matches!(app.resource("github.com/a/file"), Ok(Entry::File(_))));
    assert!(app.resource("github.com/a/dir").is_err());
    assert!(matches!(app.resource("./github.com/a/dir"), Ok(Entry::Directory(_))));
}
