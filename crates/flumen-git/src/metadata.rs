//! What commits and tags say about themselves, and what their signatures are for.

use gix::{
    hash::Kind,
    objs::{CommitRef, TagRef},
};

use crate::error::chain;

/// Who did something, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Person {
    pub name: String,
    pub email: String,
    /// Seconds since 1970.
    pub seconds: i64,
}

/// A signature, and the bytes that it is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signed {
    pub signature: String,
    pub payload: Vec<u8>,
}

/// What a commit says about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitMetadata {
    pub author: Person,
    pub committer: Person,
    pub message: String,
    pub signed: Option<Signed>,
}

/// The tag that led to a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TagMetadata {
    pub name: String,
    /// The id of the tag object; a lightweight tag has none, and says nothing about itself.
    pub id: Option<String>,
    pub message: String,
    pub signed: Option<Signed>,
}

impl CommitMetadata {
    pub(crate) fn read(bytes: &[u8], hash: Kind) -> Result<Self, String> {
        let commit = CommitRef::from_bytes(bytes, hash).map_err(|error| chain(&error))?;
        Ok(Self {
            author: person(commit.author),
            committer: person(commit.committer),
            message: commit.message.to_string(),
            signed: signed_commit(bytes),
        })
    }

    /// The first line of the message.
    pub fn subject(&self) -> &str {
        self.message.lines().next().unwrap_or_default()
    }
}

impl TagMetadata {
    /// A name that stands for a commit, and nothing more.
    pub(crate) fn lightweight(name: &str) -> Self {
        Self { name: name.to_owned(), id: None, message: String::new(), signed: None }
    }

    pub(crate) fn read(id: &gix::ObjectId, bytes: &[u8]) -> Result<Self, String> {
        let tag = TagRef::from_bytes(bytes, id.kind()).map_err(|error| chain(&error))?;
        Ok(Self {
            name: tag.name.to_string(),
            id: Some(id.to_string()),
            message: tag.message.to_string(),
            signed: signed_tag(bytes),
        })
    }
}

/// A date that cannot be read is no reason to refuse a commit; it is the beginning of time then.
fn person(text: &gix::bstr::BStr) -> Person {
    let signature = gix::actor::SignatureRef::from_bytes(text);
    let (name, email, seconds) = signature.map_or_else(
        |_| (text.to_string(), String::new(), 0),
        |person| (person.name.to_string(), person.email.to_string(), person.seconds()),
    );
    Person { name, email, seconds }
}

/// Takes the signature out of the header of a commit, as Git does before it verifies it.
fn signed_commit(bytes: &[u8]) -> Option<Signed> {
    let mut signature = Vec::new();
    let mut payload = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    let mut header = Header::Other;
    while let Some(end) = rest.iter().position(|&byte| byte == b'\n') {
        let (line, after) = rest.split_at(end + 1);
        if line == b"\n" {
            break;
        }
        if let Some(continued) = line.strip_prefix(b" ") {
            match header {
                Header::Signature => signature.extend_from_slice(continued),
                Header::OtherSignature => {}
                Header::Other => payload.extend_from_slice(line),
            }
        } else if let Some(first) = line.strip_prefix(b"gpgsig ") {
            header = Header::Signature;
            signature.extend_from_slice(first);
        } else if line.starts_with(b"gpgsig-sha256 ") {
            header = Header::OtherSignature;
        } else {
            header = Header::Other;
            payload.extend_from_slice(line);
        }
        rest = after;
    }
    payload.extend_from_slice(rest);
    let signature = String::from_utf8(signature).ok().filter(|text| !text.is_empty())?;
    Some(Signed { signature, payload })
}

/// Which header of a commit a line belongs to.
enum Header {
    Signature,
    /// The one for the same commit with other hashes, which no signature covers.
    OtherSignature,
    Other,
}

/// Cuts the signature off the end of a tag, where Git looks for it.
fn signed_tag(bytes: &[u8]) -> Option<Signed> {
    let mut begin = None;
    let mut at = 0;
    while at < bytes.len() {
        let line = &bytes[at..];
        if BEGINNINGS.iter().any(|beginning| line.starts_with(beginning.as_bytes())) {
            begin = Some(at);
        }
        at += line.iter().position(|&byte| byte == b'\n').map_or(line.len(), |end| end + 1);
    }
    let (payload, signature) = bytes.split_at(begin?);
    let signature = String::from_utf8(signature.to_vec()).ok()?;
    Some(Signed { signature, payload: payload.to_vec() })
}

/// How signatures begin that Git knows.
const BEGINNINGS: [&str; 4] = [
    "-----BEGIN PGP SIGNATURE-----",
    "-----BEGIN PGP MESSAGE-----",
    "-----BEGIN SIGNED MESSAGE-----",
    "-----BEGIN SSH SIGNATURE-----",
];

#[cfg(test)]
mod tests {
    use super::*;

    const TREE: &str = "tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\n";
    const PEOPLE: &str = "author A U Thor <a@example.com> 1700000000 +0100\ncommitter C <c@example.com> 1700000001 +0000\n";

    #[test]
    fn signatures_are_taken_out_of_commits() {
        let text = format!(
            "{TREE}{PEOPLE}gpgsig -----BEGIN X-----\n \n abc\n -----END X-----\n\
             gpgsig-sha256 other\n more\nencoding UTF-8\nextra one\n two\n\nsubject\n\nbody\n gpgsig no\n"
        );
        let commit = CommitMetadata::read(text.as_bytes(), Kind::Sha1).expect("a commit");
        assert_eq!(commit.subject(), "subject");
        assert_eq!(commit.message, "subject\n\nbody\n gpgsig no\n");
        let author = Person {
            name: "A U Thor".into(),
            email: "a@example.com".into(),
            seconds: 1_700_000_000,
        };
        assert_eq!((commit.author, commit.committer.seconds), (author, 1_700_000_001));
        let signed = commit.signed.expect("a signature");
        assert_eq!(signed.signature, "-----BEGIN X-----\n\nabc\n-----END X-----\n");
        let payload = format!(
            "{TREE}{PEOPLE}encoding UTF-8\nextra one\n two\n\nsubject\n\nbody\n gpgsig no\n"
        );
        assert_eq!(String::from_utf8(signed.payload).expect("text"), payload);
    }

    #[test]
    fn commits_without_signature_have_none() {
        let text = format!("{TREE}{PEOPLE}\ngpgsig in the message\n");
        let commit = CommitMetadata::read(text.as_bytes(), Kind::Sha1).expect("a commit");
        assert_eq!(commit.signed, None);
    }

    #[test]
    fn the_last_signature_of_a_tag_counts() {
        let head = "object 4b825dc642cb6eb9a060e54bf8d69288fbee4904\ntype commit\ntag v1\n\
                    tagger T <t@example.com> 1700000000 +0000\n\nwords\n";
        let quoted = "-----BEGIN PGP SIGNATURE-----\nquoted\n";
        let real = "-----BEGIN SSH SIGNATURE-----\nabc\n-----END SSH SIGNATURE-----\n";
        let text = format!("{head}{quoted}{real}");
        let id = gix::ObjectId::null(Kind::Sha1);
        let tag = TagMetadata::read(&id, text.as_bytes()).expect("a tag");
        assert_eq!(tag.name, "v1");
        let signed = tag.signed.expect("a signature");
        assert_eq!(signed.signature, real);
        assert_eq!(signed.payload, format!("{head}{quoted}").into_bytes());
        let unsigned = TagMetadata::read(&id, head.as_bytes()).expect("a tag");
        assert_eq!(unsigned.signed, None);
    }
}
