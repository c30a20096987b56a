//! What is hidden, what is not, and that streaming makes no difference.

use expect_test::expect;
use proptest::prelude::*;
use serde_json::json;

use base64::Engine as _;

use super::*;

fn redactor() -> Redactor {
    Redactor::with_secrets([
        ("MY_KEY".to_owned(), "s3cr3t/value+42".to_owned()),
        ("TINY".to_owned(), "abc".to_owned()),
    ])
}

#[test]
fn known_values_go_in_every_spelling() {
    let standard = base64::engine::general_purpose::STANDARD.encode("user:s3cr3t/value+42");
    let text = format!("a s3cr3t/value+42 b s3cr3t%2Fvalue%2B42 c {standard} d abc");
    let redacted = redactor().redact(&text).into_owned();
    assert!(redacted.starts_with("a [redacted:MY_KEY] b [redacted:MY_KEY] c "), "{redacted}");
    assert!(redacted.ends_with(" d abc"), "{redacted}");
    assert_eq!(redacted.matches("[redacted:MY_KEY]").count(), 3, "{redacted}");
}

#[test]
fn a_value_that_json_escapes_is_known_there_too() {
    let value = "p\"q\\r tab\t12345".to_owned();
    let redactor = Redactor::with_secrets([("MY_KEY".to_owned(), value.clone())]);
    assert_eq!(redactor.redact(&json!({ "k": value }).to_string()), r#"{"k":"[redacted:MY_KEY]"}"#);
}

#[test]
fn values_are_found_without_an_expression_too() {
    let redactor = redactor();
    let forms = redactor.known.read().forms.clone();
    *redactor.known.write() = Arc::new(Known { forms, expression: None });
    assert_eq!(redactor.redact("a s3cr3t/value+42 b"), "a [redacted:MY_KEY] b");
    assert!(matches!(redactor.redact("nothing here"), Cow::Borrowed(_)));
}

#[test]
fn shapes_of_tokens_go() {
    // The tokens are put together here so that no scanner takes this file for a leak.
    let tokens = [
        format!("AKIA{}", "ABCDEFGHIJ234567"),
        format!("ghp_{}", "a1".repeat(18)),
        format!("github_pat_{}", "A1b2".repeat(8)),
        format!("sk-ant-{}", "api03-a1B2c3D4e5F6g7H8i9J0"),
        format!("sk-{}", "proj-a1B2c3D4e5F6g7H8i9J0"),
        format!("xoxb-{}", "1234567890-abcdef"),
        format!("AIza{}", "a".repeat(35)),
        format!("eyJ{0}.eyJ{0}.{0}", "hbGciOiJIUzI1NiJ9"),
        format!("curl -H 'Authorization: Bearer {}'", "abcdef123456"),
        format!("aws_secret_access_key = {}", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
        format!("export AWS_SECRET_ACCESS_KEY=\"{}\"", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
        format!("{{\"SecretAccessKey\": 1, \"awsSecretAccessKey\": \"{}\"}}", "a1".repeat(20)),
        format!("pypi-{}", "AgEIcHlwaS5vcmcCJDU0"),
        format!("postgres://admin:{}@db.example.com:5432/app", "hunt:er@2"),
        format!("git clone https://{}@github.com/a/b", "x-access-token:abc123"),
        format!("redis://:{}@127.0.0.1", "pass"),
        format!("https://hooks.slack.com/services/{}", "T00000000/B00000000/a1B2c3D4e5F6g7H8"),
        format!("AccountKey={}==", "a1B2".repeat(12)),
        format!("https://{}@o1.example.com/1", "01ab".repeat(8)),
    ];
    let redacted = redactor().redact(&tokens.join("\n")).into_owned();
    expect![[r#"
        [redacted:aws-key]
        [redacted:github-token]
        [redacted:github-token]
        [redacted:anthropic-key]
        [redacted:api-key]
        [redacted:slack-token]
        [redacted:google-key]
        [redacted:jwt]
        curl -H 'Authorization: Bearer [redacted:authorization]'
        aws_secret_access_key = [redacted:aws-secret-key]
        export AWS_SECRET_ACCESS_KEY="[redacted:aws-secret-key]"
        {"SecretAccessKey": 1, "awsSecretAccessKey": "[redacted:aws-secret-key]"}
        [redacted:pypi-token]
        postgres://admin:[redacted:url-password]@db.example.com:5432/app
        git clone https://x-access-token:[redacted:url-password]@github.com/a/b
        redis://:[redacted:url-password]@127.0.0.1
        https://[redacted:webhook]
        AccountKey=[redacted:azure-key]
        https://[redacted:url-key]@o1.example.com/1"#]]
    .assert_eq(&redacted);
}

#[test]
fn tokens_of_services_go_and_words_like_them_stay() {
    let (hex, mixed) = ("01ab".repeat(16), "a1B2".repeat(20));
    let upper = mixed.to_uppercase();
    let tokens = [
        format!("dop_v1_{hex}"),
        format!("dckr_pat_{mixed}"),
        format!("lin_api_{mixed}"),
        format!("gsk_{mixed}"),
        format!("shpat_{}", &hex[..32]),
        format!("r8_{mixed}"),
        format!("pplx-{mixed}"),
        format!("xai-{mixed}"),
        format!("nfp_{mixed}"),
        format!("dapi{}", &hex[..32]),
        format!("glsa_{}_{}", &mixed[..32], &hex[..8]),
        format!("NRAK-{}", &upper[..27]),
        format!("dp.st.dev.{mixed}"),
        format!("pul-{}", &hex[..40]),
        format!("sbp_{}", &hex[..40]),
        format!("figd_{mixed}"),
        format!("ATATT3{mixed}"),
        format!("tfp_{mixed}"),
        format!("ya29.{mixed}"),
        format!("CFPAT-{mixed}"),
        format!("PMAK-{}-{}", &hex[..24], &hex[..34]),
        format!("whsec_{mixed}"),
        format!("ops_eyJ{mixed}"),
        format!("hvs.{mixed}"),
        format!("SG.{}.{mixed}", &mixed[..22]),
        format!("secret_{mixed}"),
        format!("AGE-SECRET-KEY-1{upper}"),
        format!("sk.eyJ{0}.{0}", &mixed[..20]),
        format!("123456789:AA{}", &mixed[..33]),
    ];
    for token in &tokens {
        assert_eq!(redactor().redact(&format!("x {token} y")), "x [redacted:service-token] y", "{token}");
    }
    let plain = "secret_name_of_a_function_that_is_long r8_x dapi hvs.rs SG.md xai-grok ops_team ya29 12345678:AA pul-request";
    assert_eq!(redactor().redact(plain), plain);
}

#[test]
fn keys_go_whole_and_ordinary_text_stays() {
    let key = format!(
        "before\n-----BEGIN RSA {0}-----\nMIIabc123\nxyz==\n-----END RSA {0}-----\nafter\n",
        "PRIVATE KEY"
    );
    expect![[r"
        before
        [redacted:private-key]
        after
    "]]
    .assert_eq(&redactor().redact(&key));
    for plain in [
        "http://localhost:8080/a@b git@github.com:a/b.git https://example.com?a=b:c@d http://a:80?x=y@z",
        "AWS_SECRET_ACCESS_KEY=${{ secrets.AWS_SECRET_ACCESS_KEY }} postgres://me:$PASSWORD@db pypi-server-and-friends-of-it",
        "password = \"correct horse battery\" aws_secret_access_key = settings.read(AWS_SECRET_ACCESS_KEY)",
    ] {
        assert_eq!(redactor().redact(plain), plain);
    }
    let plain = "task-sk-some-kebab-case-name-here sk-learn-is-a-long-package-name eyJustText AKIA short\n";
    assert!(matches!(redactor().redact(plain), Cow::Borrowed(_)));
}

#[test]
fn json_is_redacted_inside() {
    let mut value = json!({"a": ["x s3cr3t/value+42"], "n": 1});
    redactor().redact_value(&mut value);
    assert_eq!(value, json!({"a": ["x [redacted:MY_KEY]"], "n": 1}));
}

#[test]
fn five_megabytes_without_a_secret_stay_as_they_are() {
    let line = "   Compiling something-or-other v1.2.3 (/work/path/to/something) eyJ sk- AK\n";
    let text = line.repeat(5 * 1024 * 1024 / line.len());
    assert_eq!(redactor().redact(&text), text);
}

#[test]
fn a_secret_is_never_cut_in_two() {
    let redactor = redactor();
    let tokens = ["s3cr3t/value+42".to_owned(), format!("-AKIA{}-", "ABCDEFGHIJ234567")];
    // Around the cut and around the end of what is looked at beyond it.
    for before in (65_518..65_540).step_by(3).chain([73_715, 73_727]) {
        for token in &tokens {
            let text = format!("{}{token}{}", "x".repeat(before), "z".repeat(80_000));
            let redacted = redactor.redact(&text);
            let marks = redacted.matches("[redacted:").count();
            assert_eq!(marks, 1, "{token} after {before} characters");
            assert_eq!(redacted.matches(['x', 'z']).count(), before + 80_000);
        }
    }
}

#[test]
fn lines_keep_their_number() {
    let key = format!("a\n-----BEGIN {0}-----\nMIIabc\n\nxyz==\n-----END {0}-----\nafter", "PRIVATE KEY");
    let lines = redactor().redact_lines(&key).expect("a key");
    let hidden = "[redacted:private-key]\n";
    assert_eq!(lines, ["a\n", hidden, hidden, hidden, hidden, hidden, "after"]);
    assert_eq!(redactor().redact_lines("a\nb"), None);
}

fn secret_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[a-z \n]{0,12}",
        Just("s3cr3t/value+42".to_owned()),
        Just(format!("AKIA{}", "ABCDEFGHIJ234567")),
        Just(format!("-----BEGIN {}-----\nAAAA\n", "PRIVATE KEY")),
        Just(format!("-----END {}-----\n", "PRIVATE KEY")),
        Just("Authorization: Bearer abcdefgh1234\r\n".to_owned()),
        Just("ü\n".to_owned()),
        Just("word ".repeat(20_000)),
        (60_000usize..80_000).prop_map(|length| "x".repeat(length)),
    ];
    proptest::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn streaming_makes_no_difference(text in secret_text(), cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..6)) {
        let redactor = redactor();
        let mut places: Vec<usize> = cuts
            .iter()
            .map(|cut| cut.index(text.len() + 1))
            .filter(|place| text.is_char_boundary(*place))
            .chain([0, text.len()])
            .collect();
        places.sort_unstable();
        let mut stream = redactor.stream();
        let mut out = String::new();
        for pair in places.windows(2) {
            out.push_str(&stream.push(&text[pair[0]..pair[1]]));
        }
        out.push_str(&stream.finish());
        prop_assert!(out == redactor.redact(&text), "differs");
        prop_assert!(!out.contains("s3cr3t/value+42"));
    }
}

/// E05: what a program prints of a value in any of these forms is hidden.
#[test]
fn e05_values_go_in_twenty_encodings() {
    let value = "Canary_7391-of/the+mine";
    let redactor = Redactor::with_secrets([("CANARY".to_owned(), value.to_owned())]);
    let bytes = value.as_bytes();
    let each =
        |between: &str, of: &dyn Fn(&u8) -> String| bytes.iter().map(of).collect::<Vec<_>>().join(between);
    let reversed: String = value.chars().rev().collect();
    let standard = |text: &str| base64::engine::general_purpose::STANDARD.encode(text);
    let forms = [
        value.to_owned(),
        reversed.clone(),
        standard(value),
        standard(&format!("x{value}")),
        standard(&format!("xy{value}z")),
        base64::engine::general_purpose::URL_SAFE.encode(value),
        standard(&standard(value)),
        standard(&reversed),
        each("", &|byte| format!("{byte:02x}")),
        each("", &|byte| format!("{byte:02X}")),
        each(" ", &|byte| format!("{byte:02x}")),
        each(":", &|byte| format!("{byte:02x}")),
        each("", &|byte| format!("\\x{byte:02x}")),
        each("", &|byte| format!("%{byte:02X}")),
        each(", ", &|byte| byte.to_string()),
        each("", &|byte| format!("&#{byte};")),
        each("", &|byte| format!("\\{byte:03o}")),
        each("", &|byte| format!("\\u{byte:04x}")),
        each(" ", &|byte| char::from(*byte).to_string()),
        "Pnanel_7391-bs/gur+zvar".to_owned(),
        "IGGYYYLSPE3WG4TFGEZS".to_owned(),
    ];
    for form in &forms[..forms.len() - 1] {
        let shown = redactor.redact(&format!("a {form} b")).into_owned();
        assert!(shown.contains("[redacted:CANARY]"), "{form} came through: {shown}");
        assert!(!shown.contains("7391"), "{shown}");
    }
    // Of one letter of base32 nothing is said: the whole is looked for.
    assert!(!redactor.redact(&forms[forms.len() - 1]).contains("redacted"));
}
