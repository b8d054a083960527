use super::*;

pub(super) fn variables() -> BTreeMap<String, String> {
    [
        ("empty", ""),
        ("file", "archive.tar.gz"),
        ("lower", "hello"),
        ("path", "/usr/lib/libfoo.so"),
        ("upper", "HELLO"),
        ("minus", "-5"),
        ("text", "Hello World"),
        ("wide", "Üöß"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .into()
}

fn shown(template: &str, unset: Unset) -> String {
    substitute(template, &variables(), unset).unwrap_or_else(|error| format!("! {error}"))
}

#[track_caller]
fn check(template: &str, expected: &str) {
    assert_eq!(shown(template, Unset::Empty), expected, "{template}");
}

#[track_caller]
fn check_strict(template: &str, expected: &str) {
    assert_eq!(shown(template, Unset::Refused), expected, "{template}");
}

#[test]
fn text_stays_and_doubled_dollars_are_one() {
    check("", "");
    check("$text $ a$", "$text $ a$");
    check("$$ $$$ $${text} $$text", "$ $$ ${text} $text");
    check("}${text}{ \\${lower}", "}Hello World{ \\hello");
}

#[test]
fn what_is_not_set_is_empty_or_refused() {
    check("<${missing}>", "<>");
    check_strict("<${missing}>", "! variable not set (strict mode): \"missing\"");
    check_strict("${#missing}", "! variable not set (strict mode): \"missing\"");
    check_strict("${empty}${missing:=d}${missing=}${1:-e}", "de");
    check_strict("${text:=${missing}}", "! variable not set (strict mode): \"missing\"");
    check_strict("${missing} ${", "! unable to parse variable name");
}

#[test]
fn all_defaults_mean_the_same() {
    check("${text:=d} ${text:-d} ${text:?d} ${text:+d} ${text=d}", &["Hello World"; 5].join(" "));
    check("${empty:=d}${empty:-d}${empty:?d}${empty:+d}${empty=d}", "ddddd");
    check("${x:=a${y:=b${lower}}c}", "abhelloc");
    check("${x:=$$v} ${x:={}} ${x:=\"a: b\"}", "$$v {} \"a: b\"");
    check("${text-d}", "! missing closing brace");
}

#[test]
fn letters_change_case_one_by_one() {
    check("${lower^} ${lower^^} ${upper,} ${upper,,}", "Hello HELLO hELLO hello");
    check("${wide^^} ${wide,} ${empty^}", "ÜÖß üöß ");
    check("${upper^,} ${upper,^}", "HELLO HELLO");
    check("${upper^^^}", "! bad substitution");
}

#[test]
fn lengths_and_substrings_count_bytes() {
    check("${#text} ${#wide} ${#missing}", "11 6 0");
    check("${text:6} ${text:6:3} ${text:3:100} ${text:100}${text:100:1}", "World Wor lo World ");
    check("${text: -5} ${text:x} ${text:1:x}", "Hello World Hello World Hello World");
    check("${text:${minus}} ${text:${minus}::2}", "World Wo");
    check("${text:+5}${text:0:0}", "Hello World");
    check("${wide:1:2}", "\u{fffd}\u{fffd}");
    check("${text:0:-2}", "! the substring of \"text\" has a negative length");
    check("${text:}", "! unable to parse substitution within function");
    check("${text:1:}", "! unable to parse substitution within function");
    check("${text:1${minus}}", "! bad substitution");
}

#[test]
fn patterns_trim_the_ends() {
    check("${path#*/} ${path##*/}", "usr/lib/libfoo.so libfoo.so");
    check("${path%/*} ${path%%/*}", "/usr/lib ");
    check("${file#[a-c]} ${file#[^a-c]} ${file#?}", "rchive.tar.gz archive.tar.gz rchive.tar.gz");
    check("${file#*} ${file##*} ${file%*}", "rchive.tar.gz  archive.tar.g");
    check("${file##*[.]} ${file#a*[x\\-v]e} ${file#\\a}", "gz .tar.gz rchive.tar.gz");
    check("${wide#?} ${wide%?}", "öß Üö");
    check("${file#${x:=arch}} ${file#zip} ${empty#*}", "ive.tar.gz archive.tar.gz ");
    // Read backwards, these are no patterns.
    check("${file%[a-z]} ${file%\\z}", "archive.tar.gz archive.tar.gz");
    check("${file#[} ${file#[]} ${file#[a-]} ${file#a\\}", &["archive.tar.gz"; 4].join(" "));
    check("${file#}", "! unable to parse substitution within function");
    check("${file#a${lower}}", "! bad substitution");
}

#[test]
fn literals_are_replaced() {
    check("${text/o/0} ${text//o/0} ${text//l}", "! bad substitution");
    check("${text/o/0} ${text//o/0} ${text//l/}", "Hell0 World Hell0 W0rld Heo Word");
    check("${text/#Hello/Bye} ${text/#World/Bye}", "Bye World Hello World");
    check("${text/%World/Earth} ${text/%Hello/Earth}", "Hello Earth Hello World");
    check("${text/#Hello/}", "Hello World");
    check(
        "${path//\\//-} ${text/o/\\/} ${text/o/$$$${lower}",
        "-usr-lib-libfoo.so Hell/ World Hell$${lower World",
    );
    check("${text/${x:=o}/${lower}} ${text/*/x}", "Hellhello World Hello World");
    check("${text/o///x} ${text/o/a/b}", "Hellx World Hella/b World");
    check("${text/o} / }", "Hello World");
    check("${text//l/${lower}", "! bad substitution");
}

#[test]
fn grammar_mistakes_are_told_in_flux_words() {
    check("${", "! unable to parse variable name");
    check("${!v}", "! unable to parse variable name");
    check("${${lower}}", "! unable to parse variable name");
    check("${text", "! missing closing brace");
    check("${text:", "! bad substitution");
    check("${text }", "! missing closing brace");
    check("${#}", "! bad substitution");
    check("${text:=x", "! unable to parse substitution within function");
}

#[test]
fn hostile_templates_end() {
    let deep = "${x:=".repeat(10_000);
    check(&deep, "! expressions within expressions go deeper than 100 levels");

    let long: BTreeMap<_, _> = [("v".to_owned(), "a".repeat(1 << 20))].into();
    let many_stars = format!("${{v##{}b}}", "*a".repeat(64));
    for template in ["${v//a/${v}}", &"${v}".repeat(100), &many_stars] {
        let error = substitute(template, &long, Unset::Empty).err();
        assert_eq!(error, Some(SubstituteError::TooMuch { limit: MAX_EFFORT }));
    }
}
