use serde_json::json;

use super::scan;

#[test]
fn texts_are_read_as_go_reads_them() {
    let check = |text: &str, expected: serde_json::Value| {
        let tape = scan(text.as_bytes()).expect("is JSON");
        assert_eq!(tape.root().to_value(10), Some(expected), "{text}");
    };
    check("null", json!(null));
    check(" { } ", json!({}));
    check("[]", json!([]));
    check(
        r#"{"a":[1,-0.5,1e3,true,false,null,"x"],"b":{}}"#,
        json!({"a":[1,-0.5,1000.0,true,false,null,"x"],"b":{}}),
    );
    check(r#"{"a":1,"a":2}"#, json!({"a":2}));
    check(r#""\"\\\/\b\f\n\r\tA\u00e9""#, json!("\"\\/\u{8}\u{c}\n\r\tAé"));
    check(r#""\ud83d\ude00 \ud83d \ude00 \ud83dx""#, json!("😀 \u{fffd} \u{fffd} \u{fffd}x"));
    check("12345678901234567890", json!(12_345_678_901_234_567_890.0));
}

#[test]
fn bytes_that_are_no_text_are_replaced() {
    let tape = scan(b"\"a\xff\xe2\x82b\"").expect("is JSON");
    assert_eq!(tape.root().to_value(1), Some(json!("a\u{fffd}\u{fffd}\u{fffd}b")));
}

#[test]
fn errors_are_those_of_go() {
    let check = |text: &str, expected: &str| {
        assert_eq!(scan(text.as_bytes()).expect_err("is no JSON"), expected, "{text}");
    };
    let end = "unexpected end of JSON input";
    for text in [
        "",
        " ",
        "{",
        "[",
        "[1",
        "[1,",
        r#"{"a""#,
        r#"{"a":"#,
        r#"{"a":1"#,
        r#"{"a":1,"#,
        "\"a",
        "\"\\u00",
    ] {
        let expected = match text {
            "\"\\u00" => "invalid character ' ' in \\u hexadecimal character escape",
            _ => end,
        };
        check(text, expected);
    }
    check("k8s", "invalid character 'k' looking for beginning of value");
    check("{a", "invalid character 'a' looking for beginning of object key string");
    check(r#"{"a"1"#, "invalid character '1' after object key");
    check(r#"{"a":1 "b""#, "invalid character '\"' after object key:value pair");
    check("[1 2]", "invalid character '2' after array element");
    check("[1]]", "invalid character ']' after top-level value");
    check("tru", "invalid character ' ' in literal true (expecting 'e')");
    check("nul1", "invalid character '1' in literal null (expecting 'l')");
    check("-", "invalid character ' ' in numeric literal");
    check("01", "invalid character '1' after top-level value");
    check("1.x", "invalid character 'x' after decimal point in numeric literal");
    check("1e+", "invalid character ' ' in exponent of numeric literal");
    check("\"\n\"", "invalid character '\\n' in string literal");
    check("\"\\x\"", "invalid character 'x' in string escape code");
    check("'", "invalid character '\\'' looking for beginning of value");
    check("\u{1}", "invalid character '\\x01' looking for beginning of value");
}

#[test]
fn ten_thousand_levels_are_the_limit() {
    let text = "[".repeat(10_000) + &"]".repeat(10_000);
    let tape = scan(text.as_bytes()).expect("is within the limit");
    assert_eq!(tape.root().to_value(100), None);
    let error = scan("[".repeat(10_001).as_bytes()).expect_err("is too deep");
    assert_eq!(error, "invalid character '[' exceeded max depth");
}
