//! Functions that Kubernetes adds to the language.

mod access;
mod formats;
mod lists;
mod network;
mod quantities;
mod versions;

use std::{fmt, net::IpAddr, rc::Rc};

use flumen_object::Quantity;

use access::Access;
pub use access::{Authorizer, Decision, Question};
use formats::NamedFormat;
pub(crate) use formats::is_format;
use network::Cidr;

use crate::{
    Budget, Fault, Outcome,
    collection::{Entries, List},
    functions::no_overload_of_types,
    strings,
    text::Text,
    url::Url,
    value::Value,
};

/// A value of a type that is no part of the language.
#[derive(Clone, Debug, PartialEq)]
pub enum Opaque {
    Url(Url),
    Quantity(Quantity),
    Ip(IpAddr),
    Cidr(Cidr),
    Format(&'static NamedFormat),
    Version(semver::Version),
    Access(Access),
}

impl Opaque {
    pub(crate) const fn type_name(&self) -> &'static str {
        match self {
            Self::Url(_) => "kubernetes.URL",
            Self::Quantity(_) => "kubernetes.Quantity",
            Self::Ip(_) => "net.IP",
            Self::Cidr(_) => "net.CIDR",
            Self::Format(_) => "kubernetes.NamedFormat",
            Self::Version(_) => "kubernetes.Semver",
            Self::Access(access) => access.type_name(),
        }
    }

    fn value<'a>(self) -> Value<'a> {
        Value::Opaque(Rc::new(self))
    }
}

impl fmt::Display for Opaque {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Url(url) => url.fmt(f),
            Self::Quantity(quantity) => quantity.fmt(f),
            Self::Ip(ip) => ip.fmt(f),
            Self::Cidr(cidr) => cidr.fmt(f),
            Self::Format(format) => f.write_str(format.name),
            Self::Version(version) => version.fmt(f),
            Self::Access(access) => f.write_str(access.type_name()),
        }
    }
}

pub(crate) fn apply<'a>(
    name: &str,
    args: &[Value<'a>],
    budget: &mut Budget,
) -> Option<Outcome<'a>> {
    lists::apply(name, args, budget)
        .or_else(|| patterns(name, args, budget))
        .or_else(|| urls(name, args))
        .or_else(|| quantities::apply(name, args))
        .or_else(|| network::apply(name, args))
        .or_else(|| formats::apply(name, args))
        .or_else(|| versions::apply(name, args))
        .or_else(|| access::apply(name, args, budget))
}

fn patterns<'a>(name: &str, args: &[Value<'a>], budget: &mut Budget) -> Option<Outcome<'a>> {
    let (text, source, limit) = match (name, args) {
        ("find", [Value::Text(text), Value::Text(source)]) => (text, source, 1),
        ("findAll", [Value::Text(text), Value::Text(source)]) => (text, source, -1),
        ("findAll", [Value::Text(text), Value::Text(source), Value::Int(limit)]) => {
            (text, source, *limit)
        }
        ("find" | "findAll", _) => return Some(Err(no_overload_of_types(name, args))),
        _ => return None,
    };
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    Some(found(text, source, limit, budget).map(|mut found| {
        if name == "find" {
            found.pop().unwrap_or_else(|| Value::text(""))
        } else {
            Value::list(found)
        }
    }))
}

fn found<'a>(
    text: &Text<'a>,
    source: &str,
    limit: usize,
    budget: &mut Budget,
) -> Result<Vec<Value<'a>>, Fault> {
    let parts = source.len() + if source.contains('{') { 500 } else { 0 };
    budget.spend((parts * (1 + text.len() / 16)) as u64)?;
    let pattern =
        strings::pattern(source).map_err(|error| Fault::new(format!("Illegal regex: {error}")))?;
    let found = pattern.find_iter(text).take(limit);
    Ok(found.map(|found| Value::text(found.as_str().to_owned())).collect())
}

fn urls<'a>(name: &str, args: &[Value<'a>]) -> Option<Outcome<'a>> {
    // Without a scheme only a path from the root is a URL.
    let read = |text: &str| Url::parse_request(text);
    let outcome = match (name, args) {
        ("isURL", [Value::Text(text)]) => Ok(Value::Bool(read(text).is_ok())),
        ("url", [Value::Text(text)]) => {
            read(text).map(|url| Opaque::Url(url).value()).map_err(|it| {
                Fault::new(format!("URL parse error during conversion from string: {it}"))
            })
        }
        (_, [Value::Opaque(opaque)]) => {
            let Opaque::Url(url) = opaque.as_ref() else { return None };
            let text = match name {
                "getScheme" => url.scheme.clone(),
                "getHost" => url.host.clone(),
                "getHostname" => url.hostname().to_owned(),
                "getPort" => url.port().to_owned(),
                "getEscapedPath" => url.path.clone(),
                "getQuery" => return Some(Ok(parameters(url))),
                _ => return None,
            };
            Ok(Value::text(text))
        }
        _ => return None,
    };
    Some(outcome)
}

fn parameters<'a>(url: &Url) -> Value<'a> {
    let entries = url.parameters().into_iter().map(|(key, values)| {
        let values = values.into_iter().map(Value::text).collect();
        (Value::text(key), Value::List(List::Made(Rc::new(values))))
    });
    Value::Map(Entries::Made(Rc::new(entries.collect())))
}

/// A whole number of something that was counted.
fn count<'a>(number: u64) -> Value<'a> {
    Value::Int(i64::try_from(number).unwrap_or(i64::MAX))
}
