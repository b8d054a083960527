//! Label selectors in the notation of the Kubernetes API: `app=web,tier in (a,b),!legacy`.
//!
//! Kustomize and Flux use the grammar for annotations as well. The sentences about what was found and
//! what was expected are the API's own.

mod syntax;

use self::syntax::{check_key, check_value};

/// Requirements of which all must hold.
#[derive(Clone, Debug, Default)]
pub struct LabelSelector(Vec<Requirement>);

#[derive(Clone, Debug)]
struct Requirement {
    key: String,
    test: Test,
}

#[derive(Clone, Debug)]
enum Test {
    Exists,
    IsMissing,
    In(Vec<String>),
    /// Holds for a missing key too.
    NotIn(Vec<String>),
    GreaterThan(i64),
    LessThan(i64),
}

/// Whose words mistakes are told in. The same library said it differently over the years.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wording {
    /// The tools that have the library inside.
    Tools,
    /// The API server of today.
    Server,
}

impl LabelSelector {
    pub fn parse(text: &str) -> Result<Self, String> {
        Self::parse_in(text, Wording::Tools)
    }

    /// The same, with the messages of the API server.
    pub fn parse_query(text: &str) -> Result<Self, String> {
        Self::parse_in(text, Wording::Server)
    }

    fn parse_in(text: &str, wording: Wording) -> Result<Self, String> {
        Parser { tokens: scan(text), position: 0, wording }.requirements().map(Self)
    }

    /// Whether everything matches.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether all requirements hold for the values that `value_of` knows.
    pub fn match_with<'a>(&self, mut value_of: impl FnMut(&str) -> Option<&'a str>) -> bool {
        self.0.iter().all(|requirement| {
            let value = value_of(&requirement.key);
            let is_one_of = |values: &[String]| {
                value.is_some_and(|value| values.iter().any(|wanted| wanted == value))
            };
            let number = || value.and_then(|value| value.parse::<i64>().ok());
            match &requirement.test {
                Test::Exists => value.is_some(),
                Test::IsMissing => value.is_none(),
                Test::In(values) => is_one_of(values),
                Test::NotIn(values) => !is_one_of(values),
                Test::GreaterThan(limit) => number().is_some_and(|number| number > *limit),
                Test::LessThan(limit) => number().is_some_and(|number| number < *limit),
            }
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token<'a> {
    End,
    Close,
    Open,
    Comma,
    Not,
    DoubleEquals,
    Equals,
    NotEquals,
    GreaterThan,
    LessThan,
    In,
    NotIn,
    Name(&'a str),
}

impl Token<'_> {
    const fn text(&self) -> &str {
        match self {
            Self::End => "",
            Self::Close => ")",
            Self::Open => "(",
            Self::Comma => ",",
            Self::Not => "!",
            Self::DoubleEquals => "==",
            Self::Equals => "=",
            Self::NotEquals => "!=",
            Self::GreaterThan => ">",
            Self::LessThan => "<",
            Self::In => "in",
            Self::NotIn => "notin",
            Self::Name(name) => name,
        }
    }
}

const fn is_sign(byte: u8) -> bool {
    matches!(byte, b'=' | b'!' | b'(' | b')' | b',' | b'>' | b'<')
}

const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

/// Cuts the text into tokens; the last is always [`Token::End`].
fn scan(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches([' ', '\t', '\r', '\n']);
        let Some(&first) = rest.as_bytes().first() else { break };
        let (token, length) = if is_sign(first) {
            let token = sign(rest.as_bytes());
            (token, token.text().len())
        } else {
            let end = rest.bytes().position(|byte| is_sign(byte) || is_space(byte));
            let end = end.unwrap_or(rest.len());
            let token = match &rest[..end] {
                "in" => Token::In,
                "notin" => Token::NotIn,
                name => Token::Name(name),
            };
            (token, end)
        };
        tokens.push(token);
        rest = &rest[length..];
    }
    tokens.push(Token::End);
    tokens
}

/// The longest sign that a text begins with.
const fn sign(text: &[u8]) -> Token<'_> {
    match text {
        [b'=', b'=', ..] => Token::DoubleEquals,
        [b'!', b'=', ..] => Token::NotEquals,
        [b'=', ..] => Token::Equals,
        [b'!', ..] => Token::Not,
        [b'(', ..] => Token::Open,
        [b')', ..] => Token::Close,
        [b'>', ..] => Token::GreaterThan,
        [b'<', ..] => Token::LessThan,
        _ => Token::Comma,
    }
}

struct Parser<'a> {
    tokens: Vec<Token<'a>>,
    position: usize,
    wording: Wording,
}

impl<'a> Parser<'a> {
    /// The next token. Where a value may stand, `in` and `notin` are values.
    fn peek(&self) -> Token<'a> {
        match self.tokens.get(self.position) {
            Some(Token::In) => Token::Name("in"),
            Some(Token::NotIn) => Token::Name("notin"),
            Some(token) => *token,
            None => Token::End,
        }
    }

    fn next(&mut self) -> Token<'a> {
        let token = self.peek();
        self.position += 1;
        token
    }

    fn requirements(&mut self) -> Result<Vec<Requirement>, String> {
        let mut requirements = Vec::new();
        loop {
            match self.peek() {
                Token::Name(_) | Token::Not => {}
                Token::End => return Ok(requirements),
                other => {
                    return Err(expected(other, "!, identifier, or 'end of string'"));
                }
            }
            let requirement = self
                .requirement()
                .map_err(|problem| format!("unable to parse requirement: {problem}"))?;
            requirements.push(requirement);
            match self.next() {
                Token::End => return Ok(requirements),
                Token::Comma => match self.peek() {
                    Token::Name(_) | Token::Not => {}
                    other => return Err(expected(other, "identifier after ','")),
                },
                other => return Err(expected(other, "',' or 'end of string'")),
            }
        }
    }

    fn requirement(&mut self) -> Result<Requirement, String> {
        let is_negated = self.peek() == Token::Not;
        if is_negated {
            self.next();
        }
        let key = match self.next() {
            Token::Name(key) => key,
            other => return Err(expected(other, "identifier")),
        };
        check_key(key, self.wording)?;
        let test = if is_negated {
            Test::IsMissing
        } else if matches!(self.peek(), Token::End | Token::Comma) {
            Test::Exists
        } else {
            self.test(key)?
        };
        Ok(Requirement { key: key.to_owned(), test })
    }

    fn test(&mut self, key: &str) -> Result<Test, String> {
        let operator = self.tokens.get(self.position).copied().unwrap_or(Token::End);
        self.position += 1;
        let values = match operator {
            Token::In | Token::NotIn => self.values()?,
            Token::Equals
            | Token::DoubleEquals
            | Token::NotEquals
            | Token::GreaterThan
            | Token::LessThan => vec![self.value()?],
            other => {
                let operators = match self.wording {
                    Wording::Tools => "'=', '!=', '==', 'in', notin'",
                    Wording::Server => "in, notin, =, ==, !=, gt, lt",
                };
                return Err(expected(other, operators));
            }
        };
        let number = || {
            let number = values.first().and_then(|value| value.parse().ok());
            let problem = "for 'Gt', 'Lt' operators, the value must be an integer";
            number.ok_or_else(|| match (self.wording, values.first()) {
                (Wording::Server, Some(value)) => {
                    format!("values[0]: Invalid value: {value:?}: {problem}")
                }
                _ => problem.to_owned(),
            })
        };
        let test = match operator {
            Token::GreaterThan => Test::GreaterThan(number()?),
            Token::LessThan => Test::LessThan(number()?),
            Token::NotIn | Token::NotEquals => Test::NotIn(values.clone()),
            _ => Test::In(values.clone()),
        };
        let mut places = values.iter().enumerate();
        places.try_for_each(|(place, value)| check_value(key, place, value, self.wording))?;
        Ok(test)
    }

    /// The value of `=` and its kin; none is the empty one.
    fn value(&mut self) -> Result<String, String> {
        match self.peek() {
            Token::End | Token::Comma => Ok(String::new()),
            Token::Name(value) => {
                self.next();
                Ok(value.to_owned())
            }
            other => Err(expected(other, "identifier")),
        }
    }

    /// `(a,b,c)`, where any of the values may be empty.
    fn values(&mut self) -> Result<Vec<String>, String> {
        match self.next() {
            Token::Open => {}
            other => return Err(format!("found '{}' expected: '('", other.text())),
        }
        match self.peek() {
            Token::Close => {
                self.next();
                return Ok(vec![String::new()]);
            }
            Token::Name(_) | Token::Comma => {}
            other => return Err(expected(other, "',', ')' or identifier")),
        }
        let mut values = Vec::new();
        loop {
            match self.next() {
                Token::Name(value) => {
                    values.push(value.to_owned());
                    match self.peek() {
                        Token::Comma => {}
                        Token::Close => break,
                        other => return Err(expected(other, "',' or ')'")),
                    }
                }
                Token::Comma => {
                    if values.is_empty() {
                        values.push(String::new());
                    }
                    match self.peek() {
                        Token::Close => {
                            values.push(String::new());
                            break;
                        }
                        Token::Comma => {
                            self.next();
                            values.push(String::new());
                        }
                        _ => {}
                    }
                }
                other => return Err(expected(other, "',', or identifier")),
            }
        }
        self.next();
        Ok(values)
    }
}

fn expected(found: Token<'_>, what: &str) -> String {
    format!("found '{}', expected: {what}", found.text())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks a selector against sets of labels that match and sets that do not.
    #[track_caller]
    fn check(selector: &str, matching: &[&[(&str, &str)]], others: &[&[(&str, &str)]]) {
        let requirements = LabelSelector::parse(selector).expect("the selector is valid");
        let matches = |labels: &[(&str, &str)]| {
            requirements.match_with(|key| {
                labels.iter().find(|(name, _)| *name == key).map(|(_, value)| &**value)
            })
        };
        for labels in matching {
            assert!(matches(labels), "{selector} should match {labels:?}");
        }
        for labels in others {
            assert!(!matches(labels), "{selector} should not match {labels:?}");
        }
    }

    #[test]
    fn requirements_are_matched() {
        check("", &[&[], &[("a", "1")]], &[]);
        check("a", &[&[("a", "")]], &[&[], &[("b", "")]]);
        check("!a", &[&[], &[("b", "")]], &[&[("a", "")]]);
        check("a=1", &[&[("a", "1")]], &[&[], &[("a", "2")]]);
        check("a==1,b", &[&[("a", "1"), ("b", "")]], &[&[("a", "1")]]);
        check("a!=1", &[&[], &[("a", "2")]], &[&[("a", "1")]]);
        check("a in (1, 2)", &[&[("a", "2")]], &[&[], &[("a", "3")]]);
        check("a notin (1,2)", &[&[], &[("a", "3")]], &[&[("a", "1")]]);
        check("a in ()", &[&[("a", "")]], &[&[("a", "1")]]);
        check("a in (,x)", &[&[("a", "")], &[("a", "x")]], &[&[("a", "y")]]);
        check("a=", &[&[("a", "")]], &[&[("a", "1")]]);
        check("a > 3, a<10", &[&[("a", "7")]], &[&[("a", "3")], &[("a", "x")], &[]]);
        check("in in (in)", &[&[("in", "in")]], &[&[("in", "out")]]);
        check("example.com/x=y", &[&[("example.com/x", "y")]], &[&[]]);
    }

    #[track_caller]
    fn check_error(selector: &str, expected: &str) {
        let error = LabelSelector::parse(selector).expect_err("the selector is broken");
        assert!(error.starts_with(expected), "{selector}: {error}");
    }

    #[test]
    fn the_server_has_its_own_words() {
        let check = |selector: &str, expected: &str| {
            let error = LabelSelector::parse_query(selector).expect_err("the selector is broken");
            assert!(error.starts_with(expected), "{selector}: {error}");
        };
        check(
            "a b",
            "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt",
        );
        check("/a", "unable to parse requirement: <nil>: Invalid value: \"/a\": prefix part must");
        check(
            "a=-",
            "unable to parse requirement: values[0][a]: Invalid value: \"-\": a valid label",
        );
        check(
            "a>x",
            "unable to parse requirement: values[0]: Invalid value: \"x\": for 'Gt', 'Lt'",
        );
    }

    #[test]
    fn mistakes_are_named() {
        check_error("a in x", "unable to parse requirement: found 'x' expected: '('");
        check_error("a,", "found '', expected: identifier after ','");
        check_error("a b", "unable to parse requirement: found 'b', expected: '=', '!=', '=='");
        check_error("=a", "found '=', expected: !, identifier, or 'end of string'");
        check_error("a=b=c", "found '=', expected: ',' or 'end of string'");
        check_error("a==!", "unable to parse requirement: found '!', expected: identifier");
        check_error("a>x", "unable to parse requirement: for 'Gt', 'Lt' operators, the value must");
        check_error("-a", "unable to parse requirement: invalid label key \"-a\": name part must");
        check_error(
            "/a",
            "unable to parse requirement: invalid label key \"/a\": prefix part must",
        );
        check_error(
            "a=-",
            "unable to parse requirement: invalid label value: \"-\": at key: \"a\"",
        );
        check_error("!a=b", "found '=', expected: ',' or 'end of string'");
        check_error("a in (b", "unable to parse requirement: found '', expected: ',' or ')'");
    }
}
