use std::path::Path;

use super::{Diagnostic, Place};

#[track_caller]
fn check(diagnostic: &Diagnostic<'_>, expected: &str) {
    assert_eq!(plain(diagnostic), expected.trim_start_matches('\n'));
}

fn plain(diagnostic: &Diagnostic<'_>) -> String {
    let styled = diagnostic.render(Some(Path::new("/home/me")));
    anstream::adapter::strip_str(&styled).to_string()
}

fn at<'a>(file: &'a str, line: u32, column: u32, text: Option<&'a str>) -> Diagnostic<'a> {
    Diagnostic {
        place: Some(Place { file: Path::new(file), line, column, text }),
        ..Diagnostic::new("it is wrong")
    }
}

#[test]
fn a_message_alone_is_one_line() {
    check(&Diagnostic::new("it is wrong"), "error: it is wrong\n");
}

#[test]
fn all_parts_in_their_order() {
    let context = ["reading 'a.yaml'".to_owned(), "couldn't build 'b'".to_owned()];
    let diagnostic = Diagnostic {
        context: &context,
        hint: Some("try something else"),
        ..at("/home/me/a.yaml", 12, 3, Some("a: b\n"))
    };
    check(
        &diagnostic,
        "
error: a.yaml:12:3: it is wrong
   |
12 | a: b
   |   ^
  while reading 'a.yaml'
  so: couldn't build 'b'
hint: try something else
",
    );
}

#[test]
fn files_elsewhere_keep_their_whole_name() {
    check(&at("/etc/a.yaml", 0, 0, None), "error: /etc/a.yaml: it is wrong\n");
    check(&at("/home/meow/a.yaml", 1, 2, None), "error: /home/meow/a.yaml:1:2: it is wrong\n");
}

#[test]
fn a_caret_behind_the_end_stands_behind_the_end() {
    check(
        &at("/a", 1, 9, Some("a: b")),
        "
error: /a:1:9: it is wrong
  |
1 | a: b
  |     ^
",
    );
}

#[test]
fn long_lines_are_cut_around_the_caret() {
    let text = format!("{}X{}", "a".repeat(500), "b".repeat(500));
    let shown = plain(&at("/a", 1, 501, Some(&text)));
    let lines: Vec<&str> = shown.lines().collect();
    assert_eq!(lines[2], format!("1 | …{}X{}…", "a".repeat(80), "b".repeat(39)));
    assert_eq!(lines[3].find('^'), lines[2].replace('…', ".").find('X'));
}

#[test]
fn source_lines_hide_passwords() {
    let text = format!("- http://me:{}@host/", "secret".repeat(50));
    let shown = plain(&at("/a", 1, 200, Some(&text)));
    assert!(!shown.contains("secret"), "{shown}");
}

#[test]
fn nothing_obeys_the_input() {
    let hostile = "x\x1b[2J\u{202e}\nfatal: y";
    let context = [hostile.to_owned()];
    let diagnostic = Diagnostic {
        message: hostile.into(),
        context: &context,
        hint: Some(hostile),
        place: Some(Place { file: Path::new(hostile), line: 1, column: 2, text: Some("\x1b[2J") }),
    };
    check(
        &diagnostic,
        "
error: x\\u{1b}[2J\\u{202e}\\nfatal: y:1:2: x\\u{1b}[2J\\u{202e}
  fatal: y
  |
1 | \\u{1b}[2J
  |       ^
  so: x\\u{1b}[2J\\u{202e}\\nfatal: y
hint: x\\u{1b}[2J\\u{202e}
  fatal: y
",
    );
}

#[test]
fn of_a_long_way_the_middle_is_left_out() {
    let context: Vec<String> = (0..20).map(|step| format!("step {step}")).collect();
    let shown = plain(&Diagnostic { context: &context, ..Diagnostic::new("x") });
    let steps: Vec<&str> = shown.lines().skip(1).map(str::trim).collect();
    assert_eq!(
        steps,
        [
            "so: step 0",
            "so: step 1",
            "so: step 2",
            "so: step 3",
            "so: step 4",
            "so: step 5",
            "… 12 more steps",
            "so: step 18",
            "so: step 19"
        ]
    );
}

#[test]
fn the_whole_stays_short() {
    let huge = "line\n".repeat(100_000);
    let wide = "\x1b".repeat(1_000_000);
    for text in [huge, wide] {
        let context = vec![text.clone(); 50];
        let diagnostic = Diagnostic {
            message: text.as_str().into(),
            context: &context,
            hint: Some(&text),
            place: Some(Place { file: Path::new(&text), line: 7, column: 9, text: Some(&text) }),
        };
        let shown = plain(&diagnostic);
        assert!(shown.len() <= 16 << 10, "{} bytes", shown.len());
        assert!(shown.lines().count() <= 40, "{} lines", shown.lines().count());
    }
}
