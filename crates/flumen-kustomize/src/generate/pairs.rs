//! Keys and values of generators: from env files, literals and files, in this order.
//!
//! Values may be secrets. Messages name keys, files and lines, never a value, and a literal that has
//! no key is not repeated.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use flumen_fs::printable;
use flumen_yaml::{Node, Style, Text};

use crate::{
    content::Content,
    error::{Context, Error, Result},
    kustomization::fields::{GeneratorArgs, Located},
    scalar::{self, new_string},
    transform::Scene,
};

/// What a generator may hold. A server takes a megabyte, so this is no loss, and a build that meets
/// a core dump by accident does not hold several copies of it.
const MAX_BYTES: usize = 32 << 20;

/// All pairs of a generator, sorted by key. No key may come twice.
pub(super) fn load(args: &GeneratorArgs, scene: &Scene<'_>) -> Result<Vec<(Text, Content)>> {
    let mut pairs = read(args, scene).within(|| "loading KV pairs")?;
    pairs.sort_by(|(one, _), (other, _)| one.cmp(other));
    for window in pairs.windows(2) {
        if let [(one, _), (other, _)] = window
            && one == other
        {
            return Err(Error::new(format!(
                "configmap {} illegally repeats the key `{one}`",
                args.name
            )));
        }
    }
    pairs.iter().try_for_each(|(key, _)| scalar::check_new_key(key))?;
    Ok(pairs)
}

fn read(args: &GeneratorArgs, scene: &Scene<'_>) -> Result<Vec<(Text, Content)>> {
    let mut pairs = Vec::new();
    for source in &args.envs {
        let file =
            scene.loader.read(&source.text).within(|| named("env source files", &args.envs))?;
        read_env(file.content.as_bytes(), &mut pairs)
            .map_err(|problem| Error::new(format!("'{}': {problem}", source.text)))
            .within(|| named("env source files", &args.envs))?;
    }
    for (index, source) in args.literals.iter().enumerate() {
        let Some((key, value)) = split_literal(&source.text) else {
            return Err(Error::new("invalid literal source, expected key=value").hint(format!(
                "literal {} of '{}' has no key, or no `=` behind it",
                index + 1,
                args.name
            )));
        };
        pairs.push((key, Content::Text(value)));
    }
    let mut bytes = 0;
    for source in &args.files {
        let (key, path) = split_file(&source.text)
            .map_err(Error::new)
            .within(|| named("file sources", &args.files))?;
        let file = scene.loader.read(path).within(|| named("file sources", &args.files))?;
        bytes += file.content.as_bytes().len();
        if bytes > MAX_BYTES {
            return Err(Error::new(format!(
                "the files of '{}' are too large: more than {} MiB with '{}'",
                args.name,
                MAX_BYTES >> 20,
                printable(path)
            ))
            .hint("a server takes at most 1 MiB in one object"));
        }
        pairs.push((Text::from(key), file.content));
    }
    Ok(pairs)
}

fn named(what: &str, sources: &[Located]) -> String {
    let names: Vec<_> = sources.iter().map(|source| printable(&source.text)).collect();
    format!("{what}: [{}]", names.join(" "))
}

/// `key=value`; one pair of quotes around the value is taken off.
fn split_literal(source: &Text) -> Option<(Text, Text)> {
    let equals = source.find('=').filter(|equals| *equals > 0)?;
    let (start, end) = (equals + 1, source.len());
    let value = source.as_bytes().get(start..end)?;
    let is_quoted = matches!(value, [b'"', .., b'"'] | [b'\'', .., b'\'']);
    let value = if is_quoted { start + 1..end - 1 } else { start..end };
    Some((source.sub(0..equals), source.sub(value)))
}

/// `path`, whose last part is the key, or `key=path`.
fn split_file(source: &str) -> Result<(&str, &str), String> {
    match source.split_once('=') {
        None => Ok((base_name(source), source)),
        Some((_, rest)) if rest.contains('=') => {
            Err(format!("source \"{source}\" key name or file path contains '='"))
        }
        Some(("", path)) => {
            Err(format!("missing key name for file path \"{path}\" in source \"{source}\""))
        }
        Some((key, "")) => {
            Err(format!("missing file path for key name \"{key}\" in source \"{source}\""))
        }
        Some((key, path)) => Ok((key, path)),
    }
}

fn base_name(path: &str) -> &str {
    let trimmed = path.trim_end_matches('/');
    match (path, trimmed) {
        ("", _) => ".",
        (_, "") => "/",
        _ => trimmed.rsplit('/').next().unwrap_or(trimmed),
    }
}

/// Longer lines end the file for kustomize, silently.
const MAX_LINE: usize = 64 * 1024 - 1;

/// Lines of `KEY=value`. Blank lines and comments are skipped; a line without `=` is a key with
/// nothing in it, never a variable of the environment.
fn read_env(content: &[u8], pairs: &mut Vec<(Text, Content)>) -> Result<(), String> {
    let content = content.strip_suffix(b"\n").unwrap_or(content);
    for (index, line) in content.split(|byte| *byte == b'\n').enumerate() {
        if line.len() > MAX_LINE {
            break;
        }
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let line = std::str::from_utf8(line)
            .map_err(|_| format!("line {} has invalid utf8 bytes", index + 1))?;
        let line = if index == 0 { line.strip_prefix('\u{FEFF}').unwrap_or(line) } else { line };
        let line = line.trim_start();
        if line.starts_with('#') {
            continue;
        }
        let (key, value) = line.split_once('=').unwrap_or((line, ""));
        if !key.is_empty() {
            pairs.push((Text::from(key), Content::Text(Text::from(value))));
        }
    }
    Ok(())
}

/// A value as it stands in the manifest: several lines are a block.
pub(super) fn value(text: Text) -> Node {
    let is_block = text.contains('\n');
    let mut node = new_string(text);
    if let Some(scalar) = node.as_scalar_mut().filter(|_| is_block) {
        scalar.style = Style::Literal;
    }
    node
}

/// Base64 in lines of 70, as kustomize writes it; a single line has no end.
pub(super) fn base64(bytes: &[u8]) -> String {
    const COLUMNS: usize = 70;
    let encoded = STANDARD.encode(bytes);
    if encoded.len() < COLUMNS {
        return encoded;
    }
    let mut out = String::with_capacity(encoded.len() + encoded.len() / COLUMNS + 1);
    let mut rest = encoded.as_str();
    while !rest.is_empty() {
        let (line, tail) = rest.split_at(rest.len().min(COLUMNS));
        out.push_str(line);
        out.push('\n');
        rest = tail;
    }
    out
}

#[cfg(test)]
mod tests {
    use flumen_yaml::Text;

    use super::{Content, base64, load, split_file};
    use crate::{
        kustomization::fields::{GeneratorArgs, Located},
        transform::stage::on_stage,
    };

    fn located(texts: &[&str]) -> Vec<Located> {
        texts.iter().map(|text| Located { text: Text::from(*text), ..Located::default() }).collect()
    }

    /// Loads and shows pairs as `key=value`, or the message and the hint.
    #[track_caller]
    fn check(envs: &[&str], literals: &[&str], files: &[&str], expected: &[&str]) {
        const FILES: [(&str, &[u8]); 5] = [
            (
                "shapes.env",
                b"\xEF\xBB\xBFA=1\n  B = 2 \n#c\n\n =x\n=y\nPATH\nD=a=b\r\nE=\"q\"\n\xC2\xA0F=3\n",
            ),
            ("other.env", b"A=2"),
            ("latin.env", b"A=1\nPASSWORD=\xFFcanary\n"),
            ("t/u.txt", b"text\n"),
            ("bytes", b"\xFF\x00"),
        ];
        let args = GeneratorArgs {
            name: "x".into(),
            envs: located(envs),
            literals: located(literals),
            files: located(files),
            ..GeneratorArgs::default()
        };
        let shown = match on_stage(&FILES, |scene| load(&args, scene)) {
            Ok(pairs) => pairs
                .into_iter()
                .map(|(key, content)| match content {
                    Content::Text(text) => format!("{key}={text}"),
                    Content::Bytes(bytes) => format!("{key}={bytes:?}"),
                })
                .collect(),
            Err(error) => {
                vec![error.to_string(), error.hint_text().unwrap_or_default().to_owned()]
            }
        };
        assert_eq!(shown, expected);
    }

    #[test]
    fn env_files_have_comments_blanks_and_keys_without_values() {
        check(&["shapes.env"], &[], &[], &["A=1", "B = 2 ", "D=a=b", "E=\"q\"", "F=3", "PATH="]);
    }

    #[test]
    fn literals_lose_one_pair_of_quotes() {
        check(
            &[],
            &["a='b'", "b=\"", "c=\"\"", "d=x=y", "e='a\"", " f = g ", "h="],
            &[],
            &[" f = g ", "a=b", "b=\"", "c=", "d=x=y", "e='a\"", "h="],
        );
    }

    #[test]
    fn files_have_names_or_are_named() {
        check(&[], &[], &["t/u.txt", "k=bytes"], &["k=[255, 0]", "u.txt=text\n"]);
        assert_eq!(
            split_file("=p"),
            Err("missing key name for file path \"p\" in source \"=p\"".to_owned())
        );
        assert_eq!(
            split_file("k="),
            Err("missing file path for key name \"k\" in source \"k=\"".to_owned())
        );
        check(
            &[],
            &[],
            &["a=b=c"],
            &[
                "loading KV pairs: file sources: [a=b=c]: \
                 source \"a=b=c\" key name or file path contains '='",
                "",
            ],
        );
    }

    #[test]
    fn keys_are_unique_across_sources() {
        let message = "configmap x illegally repeats the key `A`";
        check(&["shapes.env", "other.env"], &[], &[], &[message, ""]);
        check(&["other.env"], &["A=1"], &[], &[message, ""]);
    }

    #[test]
    fn messages_do_not_repeat_values() {
        check(
            &[],
            &["a=b", "canary"],
            &[],
            &[
                "loading KV pairs: invalid literal source, expected key=value",
                "literal 2 of 'x' has no key, or no `=` behind it",
            ],
        );
        check(
            &["latin.env"],
            &[],
            &[],
            &[
                "loading KV pairs: env source files: [latin.env]: \
                 'latin.env': line 2 has invalid utf8 bytes",
                "",
            ],
        );
    }

    #[test]
    fn what_no_object_can_hold_is_refused() {
        let args = GeneratorArgs {
            name: "x".into(),
            files: located(&["big"]),
            ..GeneratorArgs::default()
        };
        let big = vec![b'x'; (32 << 20) + 1];
        let error = on_stage(&[("big", &big)], |scene| load(&args, scene)).expect_err("too large");
        assert_eq!(error.message(), "the files of 'x' are too large: more than 32 MiB with 'big'");
    }

    #[test]
    fn long_base64_is_broken_into_lines() {
        assert_eq!(base64(&[0; 51]).len(), 68);
        let broken = base64(&[0; 54]);
        assert_eq!(broken.lines().map(str::len).collect::<Vec<_>>(), [70, 2]);
        assert!(broken.ends_with('\n'));
    }
}
