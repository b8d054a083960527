//! In which type an answer is wanted.

use std::cmp::Reverse;

use crate::{ApiError, Details, MetaVersion, Reason, Representation};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Encoding {
    #[default]
    Json,
    Yaml,
    Protobuf,
}

impl Encoding {
    pub(crate) const ALL: [Self; 3] = [Self::Json, Self::Yaml, Self::Protobuf];

    pub(crate) const fn media_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Yaml => "application/yaml",
            Self::Protobuf => "application/vnd.kubernetes.protobuf",
        }
    }

    fn streams(self) -> bool {
        self != Self::Yaml
    }
}

/// What was agreed on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Accepted {
    pub encoding: Encoding,
    pub representation: Representation,
    /// `;stream=watch` was asked for and is repeated in the answer.
    pub stream: bool,
    pub pretty: bool,
}

impl Accepted {
    /// Whether objects are wanted as they are stored: whole, as compact JSON.
    pub(crate) fn is_plain(self) -> bool {
        let Self { encoding, representation, stream: _, pretty } = self;
        encoding == Encoding::Json && representation == Representation::Object && !pretty
    }
}

/// One clause of an `Accept` header.
#[derive(Debug)]
pub(crate) struct Clause<'a> {
    pub kind: &'a str,
    pub subtype: &'a str,
    pub parameters: Vec<(&'a str, &'a str)>,
    quality: f32,
}

impl Clause<'_> {
    pub(crate) fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters.iter().find(|(key, _)| *key == name).map(|(_, value)| *value)
    }

    fn covers(&self, media_type: &str) -> bool {
        let Some((kind, subtype)) = media_type.split_once('/') else { return false };
        let any = self.kind == "*" && self.subtype == "*";
        any || self.kind == kind && (self.subtype == subtype || self.subtype == "*")
    }
}

/// The clauses of a header, best first.
pub(crate) fn clauses(header: &str) -> Vec<Clause<'_>> {
    let mut clauses: Vec<Clause<'_>> = header.split(',').filter_map(clause).collect();
    let rank = |clause: &Clause<'_>| {
        let exact = u8::from(clause.kind != "*") + u8::from(clause.subtype != "*");
        // Qualities are between 0 and 1; thousandths tell all of them apart that HTTP knows.
        #[expect(clippy::cast_possible_truncation, reason = "at most a thousand")]
        let quality = (clause.quality * 1000.0) as i32;
        Reverse((quality, exact))
    };
    clauses.sort_by_key(rank);
    clauses
}

fn clause(text: &str) -> Option<Clause<'_>> {
    let mut parts = text.split(';').map(str::trim);
    let (kind, subtype) = match parts.next()? {
        "" => return None,
        "*" => ("*", "*"),
        range => range.split_once('/')?,
    };
    let mut clause = Clause { kind, subtype, parameters: Vec::new(), quality: 1.0 };
    for part in parts {
        let (key, value) = part.split_once('=').unwrap_or((part, ""));
        let (key, value) = (key.trim(), value.trim().trim_matches('"'));
        if key == "q" {
            clause.quality = value.parse().ok().filter(|q| (0.0..=1.0).contains(q)).unwrap_or(1.0);
        } else {
            clause.parameters.push((key, value));
        }
    }
    Some(clause)
}

/// What kind of endpoint is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Endpoint {
    /// One object of a built-in kind, or an answer to a write.
    Object,
    /// A list, which may also be watched.
    Collection,
    /// A custom resource, which any type is refused for in the same words.
    Custom,
}

/// The first check, which knows names of types alone.
pub(crate) fn check_producible(header: &str, endpoint: Endpoint) -> Result<(), ApiError> {
    if endpoint == Endpoint::Custom || header.is_empty() {
        return Ok(());
    }
    let mut offered: Vec<String> = Encoding::ALL.map(|e| e.media_type().to_owned()).to_vec();
    if endpoint == Endpoint::Collection {
        let streams = Encoding::ALL.into_iter().filter(|encoding| encoding.streams());
        offered.extend(streams.map(|encoding| format!("{};stream=watch", encoding.media_type())));
    }
    let names = header.split(',').map(|clause| clause.split(';').next().unwrap_or("").trim());
    if names.into_iter().any(|name| name == "*/*" || offered.iter().any(|offer| offer == name)) {
        return Ok(());
    }
    let offered = offered.join(", ");
    Err(ApiError::new(
        406,
        Some(Reason::NotAcceptable),
        format!("406: Not Acceptable\n\nAvailable representations: {offered}"),
    )
    .with_details(Details::default()))
}

/// What an endpoint can do beyond giving an object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Abilities {
    pub watch: bool,
    pub tables: bool,
}

/// The second check: the best clause that can be met, with its parameters.
pub(crate) fn negotiate(header: &str, abilities: Abilities) -> Result<Accepted, ApiError> {
    let Abilities { watch, tables } = abilities;
    if header.is_empty() {
        return Ok(Accepted::default());
    }
    for clause in clauses(header) {
        for encoding in Encoding::ALL {
            if clause.covers(encoding.media_type())
                && let Some(accepted) = accept(&clause, encoding)
                && (!watch || encoding.streams())
                && (tables || !matches!(accepted.representation, Representation::Table(_)))
            {
                return Ok(accepted);
            }
        }
    }
    let offered: Vec<String> = if watch {
        let streams = Encoding::ALL.into_iter().filter(|encoding| encoding.streams());
        streams.map(|encoding| format!("{};stream=watch", encoding.media_type())).collect()
    } else {
        Encoding::ALL.map(|encoding| encoding.media_type().to_owned()).to_vec()
    };
    let offered = offered.join(", ");
    let message = format!("only the following media types are accepted: {offered}");
    Err(ApiError::new(406, Some(Reason::NotAcceptable), message))
}

fn accept(clause: &Clause<'_>, encoding: Encoding) -> Option<Accepted> {
    let mut accepted = Accepted { encoding, ..Accepted::default() };
    if let Some(stream) = clause.parameter("stream").filter(|stream| !stream.is_empty()) {
        if stream != "watch" || !encoding.streams() {
            return None;
        }
        accepted.stream = true;
    }
    accepted.pretty = clause.parameter("pretty") == Some("1");
    let convert = ["as", "g", "v"].map(|name| clause.parameter(name));
    if convert.iter().all(Option::is_none) {
        return Some(accepted);
    }
    let [kind, group, version] = convert.map(Option::unwrap_or_default);
    let version = match (group, version) {
        ("meta.k8s.io", "v1") => MetaVersion::V1,
        ("meta.k8s.io", "v1beta1") => MetaVersion::V1beta1,
        _ => return None,
    };
    accepted.representation = match kind {
        "Table" if encoding != Encoding::Protobuf => Representation::Table(version),
        "PartialObjectMetadata" => Representation::Metadata(version),
        "PartialObjectMetadataList" => Representation::MetadataList(version),
        _ => return None,
    };
    Some(accepted)
}

/// The type of an error, which nothing can keep from being told.
pub(crate) fn for_error(header: &str) -> Encoding {
    let wanted = clauses(header);
    let found = wanted
        .iter()
        .find_map(|clause| Encoding::ALL.into_iter().find(|e| clause.covers(e.media_type())));
    found.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const OBJECTS: Abilities = Abilities { watch: false, tables: true };
    const EVENTS: Abilities = Abilities { watch: true, tables: true };

    fn check(header: &str, expected: Option<(Encoding, Representation)>) {
        let accepted = negotiate(header, OBJECTS).ok();
        let said = accepted.map(|accepted| (accepted.encoding, accepted.representation));
        assert_eq!(said, expected, "{header}");
    }

    #[test]
    fn takes_the_best_clause_that_can_be_met() {
        use Encoding::{Json, Protobuf, Yaml};
        use Representation::{Metadata, Object, Table};
        check("", Some((Json, Object)));
        check("*/*", Some((Json, Object)));
        check("application/json;q=0.1,application/yaml;q=0.9", Some((Yaml, Object)));
        check("application/vnd.kubernetes.protobuf,application/json", Some((Protobuf, Object)));
        let table = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
        check(table, Some((Json, Table(MetaVersion::V1))));
        let metadata = "application/json;as=PartialObjectMetadata;v=v1beta1;g=meta.k8s.io";
        check(metadata, Some((Json, Metadata(MetaVersion::V1beta1))));
        check("application/json;as=Chart;v=v1;g=meta.k8s.io", None);
        check("text/html", None);
        check("application/cbor, application/json", Some((Json, Object)));
    }

    #[test]
    fn nothing_streams_as_yaml() {
        assert!(negotiate("application/yaml", EVENTS).is_err());
        assert!(negotiate("application/json;stream=watch", EVENTS).is_ok_and(|a| a.stream));
    }

    #[test]
    fn not_everything_can_be_a_table() {
        let header = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
        let accepted = negotiate(header, Abilities { watch: false, tables: false });
        assert!(accepted.is_ok_and(|a| a.representation == Representation::Object));
    }
}
