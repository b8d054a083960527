//! Repositories inside a repository.

use std::path::{Component, Path, PathBuf};

use gix::{ObjectId, objs::tree::EntryKind};

use crate::{
    Error, GitUrl, Selection,
    connection::{Connection, Session},
    target::Target,
    tree::{Contents, Entry, selected},
    url::Address,
};

/// Submodules of submodules of submodules end somewhere; as in Flux.
const MAX_DEPTH: usize = 10;

/// More is no list of submodules.
const MAX_LIST_SIZE: u64 = 1 << 20;

/// Fetches the submodules of a commit, and those of theirs.
pub(crate) fn fetch(
    session: &Session<'_>,
    address: &Address,
    selection: &Selection,
    contents: &mut Contents,
) -> Result<(), Error> {
    let top = contents.top();
    fetch_below(session, address, selection, contents, &top, MAX_DEPTH)
}

fn fetch_below(
    session: &Session<'_>,
    address: &Address,
    selection: &Selection,
    contents: &mut Contents,
    top: &Entry,
    depth: usize,
) -> Result<(), Error> {
    let broken = |reason| Error::Broken { url: address.to_string(), reason };
    for module in listed(contents, top).map_err(broken)? {
        let commit = module.commit;
        if contents.has_module(&commit) || !module.is_in(selection) {
            continue;
        }
        let refused = |reason| Error::Submodule {
            url: address.to_string(),
            path: module.path.display().to_string(),
            reason,
        };
        let depth = depth.checked_sub(1).ok_or_else(|| refused("is nested too deeply"))?;
        let place = module.address(address).map_err(refused)?;
        let objects = Connection::open(session, &place)?.fetch(&Target::commit(commit))?;
        let snapshot = objects.snapshot(&commit).map_err(broken)?;
        let tree = snapshot.ok_or_else(|| refused("is no commit"))?.tree;
        let top = contents.add_module(commit, objects, tree);
        // What is selected are paths of the outermost repository.
        let all = Selection { submodules: true, ..Selection::default() };
        fetch_below(session, &place, &all, contents, &top, depth)?;
    }
    Ok(())
}

/// A submodule as `.gitmodules` and the tree have it.
struct Module {
    path: PathBuf,
    url: String,
    commit: ObjectId,
}

/// What `.gitmodules` names and the tree has. What one of them has alone is no submodule.
fn listed(contents: &Contents, top: &Entry) -> Result<Vec<Module>, String> {
    let Some(list) = entry_at(contents, top, Path::new(".gitmodules"))? else {
        return Ok(Vec::new());
    };
    if !matches!(list.kind, EntryKind::Blob | EntryKind::BlobExecutable) {
        return Ok(Vec::new());
    }
    if contents.size(&list)? > MAX_LIST_SIZE {
        return Err(".gitmodules is too large".to_owned());
    }
    let text = String::from_utf8_lossy(&contents.file(&list)?).into_owned();
    let file = gix::config::File::try_from(text.as_str())
        .map_err(|_| ".gitmodules cannot be read".to_owned())?;
    let mut modules = Vec::new();
    for section in file.sections_by_name("submodule").into_iter().flatten() {
        let (Some(path), Some(url)) = (section.value("path"), section.value("url")) else {
            continue;
        };
        let path = PathBuf::from(path.to_string());
        if let Some(Entry { kind: EntryKind::Commit, id: commit, .. }) =
            entry_at(contents, top, &path)?
        {
            modules.push(Module { path, url: url.to_string(), commit });
        }
    }
    Ok(modules)
}

/// What is at a path, without following links.
fn entry_at(contents: &Contents, top: &Entry, path: &Path) -> Result<Option<Entry>, String> {
    let mut entry = *top;
    for component in path.components() {
        let Component::Normal(name) = component else { return Ok(None) };
        if entry.kind != EntryKind::Tree {
            return Ok(None);
        }
        match contents.directory(&entry)?.get(name.to_string_lossy().as_ref()) {
            Some(found) => entry = *found,
            None => return Ok(None),
        }
    }
    Ok(Some(entry))
}

impl Module {
    fn is_in(&self, selection: &Selection) -> bool {
        let mut directories = selection.directories.iter().map(|it| selected(it));
        selection.directories.is_empty()
            || directories.any(|it| self.path.starts_with(&it) || it.starts_with(&self.path))
    }

    /// Where it is, given where the repository is that it belongs to. Credentials go along to the
    /// same server only: whoever writes `.gitmodules` must not be able to send them elsewhere.
    fn address(&self, parent: &Address) -> Result<Address, &'static str> {
        let is_relative = self.url.starts_with("./") || self.url.starts_with("../");
        let url = if is_relative {
            joined(&parent.to_string(), &self.url).ok_or("has an address that leads nowhere")?
        } else {
            self.url.clone()
        };
        match GitUrl::parse(&url).map_err(|_| "has an address that cannot be read")? {
            GitUrl::Local(_) => Err("is on this machine, and the repository is not"),
            GitUrl::Remote(mut address) => {
                if let (Address::Http(module), Address::Http(parent)) = (&mut address, parent)
                    && module.authorization.is_none()
                    && module.url.origin() == parent.url.origin()
                {
                    module.authorization.clone_from(&parent.authorization);
                }
                Ok(address)
            }
        }
    }
}

/// Follows a relative address from another one, as Git does: `..` takes away a name.
fn joined(base: &str, relative: &str) -> Option<String> {
    let mut base = base.trim_end_matches('/');
    // Names begin behind `scheme://host/` or `host:`.
    let begin = match base.find("://") {
        Some(at) => at + 3 + base[at + 3..].find('/')?,
        None => base.find(':')?,
    };
    let mut relative = relative;
    loop {
        if let Some(rest) = relative.strip_prefix("../") {
            let last = base.rfind(['/', ':']).filter(|&at| at >= begin && at + 1 < base.len())?;
            base = if base.as_bytes()[last] == b':' { &base[..=last] } else { &base[..last] };
            relative = rest;
        } else if let Some(rest) = relative.strip_prefix("./") {
            relative = rest;
        } else {
            break;
        }
    }
    let separator = if base.ends_with(':') { "" } else { "/" };
    Some(format!("{base}{separator}{relative}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_addresses_start_at_the_repository() {
        let table = [
            ("https://h/org/app", "../lib", Some("https://h/org/lib")),
            ("https://h/org/app.git/", "../../x/lib.git", Some("https://h/x/lib.git")),
            ("https://h/org/app", "./lib", Some("https://h/org/app/lib")),
            ("https://h/app", "../lib", Some("https://h/lib")),
            ("https://h/app", "../../lib", None),
            ("ssh://git@h:2222/org/app", "../lib", Some("ssh://git@h:2222/org/lib")),
            ("git@h:org/app", "../lib", Some("git@h:org/lib")),
            ("git@h:app", "../lib", Some("git@h:lib")),
            ("git@h:app", "../../lib", None),
        ];
        for (base, relative, expected) in table {
            assert_eq!(joined(base, relative).as_deref(), expected, "{base} {relative}");
        }
    }

    #[test]
    fn credentials_stay_with_their_server() {
        let Ok(GitUrl::Remote(parent)) = GitUrl::parse("https://me:secret@h/org/app") else {
            panic!("an address")
        };
        let table = [
            ("../lib", true),
            ("https://h/other/lib", true),
            ("http://h/other/lib", false),
            ("https://elsewhere/lib", false),
            ("https://h:8443/lib", false),
        ];
        for (url, expected) in table {
            let commit = ObjectId::null(gix::hash::Kind::Sha1);
            let module = Module { path: PathBuf::from("lib"), url: url.to_owned(), commit };
            let Ok(Address::Http(address)) = module.address(&parent) else {
                panic!("an address: {url}")
            };
            assert_eq!(address.authorization.is_some(), expected, "{url}");
        }
        for url in ["/srv/lib", "file:///srv/lib"] {
            let commit = ObjectId::null(gix::hash::Kind::Sha1);
            let module = Module { path: PathBuf::from("lib"), url: url.to_owned(), commit };
            let refused = module.address(&parent).expect_err("on this machine");
            assert_eq!(refused, "is on this machine, and the repository is not");
        }
    }
}
