//! Refusals of every dialect, each with its cause and its advice.

use expect_test::{Expect, expect};

use super::*;

const KEY: &str = "sk-secret-12345678";

fn peer() -> Peer {
    Peer {
        provider: "acme".into(),
        model: "big-1".into(),
        base_url: Url::parse("https://api.acme.example/v1").unwrap(),
        api_key_env: Some("ACME_API_KEY".into()),
        start: None,
        key: Some(KEY.into()),
    }
}

fn refused(status: impl Into<Option<u16>>, body: &str) -> Error {
    let answer = Answer {
        status: status.into(),
        html: false,
        retry_after: None,
        location: None,
        body: body.as_bytes(),
    };
    peer().refusal(&answer)
}

fn check(status: impl Into<Option<u16>>, body: &str, expect: Expect) {
    let error = refused(status, body);
    let wait = error.retry_after.map_or_else(String::new, |wait| format!(" after {wait:?}"));
    let hint = error.hint.unwrap_or_default();
    expect.assert_eq(&format!("{:?}{wait}: {}\nhint: {hint}", error.kind, error.message));
}

#[test]
fn causes_are_read_from_codes_and_status() {
    use ErrorKind::{
        LlmAuthentication, LlmConnection, LlmContextTooLong, LlmProtocol, LlmQuota, LlmRateLimit,
        LlmUnknownModel,
    };
    for (status, body, kind) in [
        (
            401,
            r#"{"error":{"message":"Incorrect API key","type":"invalid_request_error","code":"invalid_api_key"}}"#,
            LlmAuthentication,
        ),
        (403, r#"{"type":"error","error":{"type":"permission_error","message":"no"}}"#, LlmAuthentication),
        (
            400,
            r#"[{"error":{"code":400,"message":"API key not valid","status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}]"#,
            LlmAuthentication,
        ),
        (
            402,
            r#"{"error":{"message":"Insufficient Balance","type":"unknown_error","code":"invalid_request_error"}}"#,
            LlmQuota,
        ),
        (
            429,
            r#"{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}"#,
            LlmQuota,
        ),
        (429, r#"{"error":{"code":"1113","message":"余额不足"}}"#, LlmQuota),
        (429, r#"{"error":{"type":"exceeded_current_quota_error","message":"suspended"}}"#, LlmQuota),
        (
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the API"}}"#,
            LlmQuota,
        ),
        (
            404,
            r#"{"error":{"message":"The model `x` does not exist","code":"model_not_found"}}"#,
            LlmUnknownModel,
        ),
        (
            404,
            r#"{"type":"error","error":{"type":"not_found_error","message":"model: claude-9"}}"#,
            LlmUnknownModel,
        ),
        (404, r#"{"error":"model 'x' not found"}"#, LlmUnknownModel),
        (
            404,
            r#"{"error":{"code":404,"message":"models/x is not found for API version v1beta","status":"NOT_FOUND"}}"#,
            LlmUnknownModel,
        ),
        (404, "404 page not found", LlmProtocol),
        (
            400,
            r#"{"error":{"message":"This model's maximum context length is 8192 tokens","code":"context_length_exceeded"}}"#,
            LlmContextTooLong,
        ),
        (
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}"#,
            LlmContextTooLong,
        ),
        (
            400,
            r#"{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}}"#,
            LlmContextTooLong,
        ),
        (
            413,
            r#"{"type":"error","error":{"type":"request_too_large","message":"too large"}}"#,
            LlmContextTooLong,
        ),
        (
            429,
            r#"{"error":{"message":"Rate limit reached","type":"tokens","code":"rate_limit_exceeded"}}"#,
            LlmRateLimit,
        ),
        (529, r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#, LlmRateLimit),
        (503, "", LlmRateLimit),
        (500, r#"{"error":{"message":"oops","type":"server_error"}}"#, LlmConnection),
        (502, "bad gateway", LlmConnection),
        (400, r#"{"object":"error","message":"bad","type":"BadRequestError","code":400}"#, LlmProtocol),
        (422, r#"{"detail":[{"loc":["body"],"msg":"field required"}]}"#, LlmProtocol),
    ] {
        assert_eq!(refused(status, body).kind, kind, "{status} {body}");
    }
    for (body, kind) in [
        (r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#, LlmRateLimit),
        (r#"{"error":{"code":502,"message":"upstream"}}"#, LlmConnection),
        (
            r#"{"type":"response.failed","response":{"error":{"code":"rate_limit_exceeded","message":"slow"}}}"#,
            LlmRateLimit,
        ),
        (r#"{"type":"error","code":"context_length_exceeded","message":"too long"}"#, LlmContextTooLong),
    ] {
        assert_eq!(refused(None, body).kind, kind, "{body}");
    }
}

#[test]
fn messages_say_what_and_hints_say_what_to_do() {
    check(
        401,
        r#"{"error":{"message":"Incorrect API key provided: sk-secret-12345678.","code":"invalid_api_key"}}"#,
        expect![[r"
            LlmAuthentication: `acme` refused the key (401): Incorrect API key provided: [key].
            hint: check `ACME_API_KEY`: the key may be mistyped, expired or of another account"]],
    );
    check(
        429,
        r#"{"error":{"code":429,"message":"Quota","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"36.5s"}]}}"#,
        expect![[r"
            LlmRateLimit after 36.5s: `acme` limits the rate of requests (429): Quota
            hint: wait a little, or choose another model"]],
    );
    check(
        404,
        "nothing here",
        expect![[r"
            LlmProtocol: `acme` refused the request (404): nothing here
            hint: check `providers.acme.base_url` (https://api.acme.example/v1): the path is not what this kind of server has"]],
    );
    check(
        400,
        r#"{"error":{"message":"unknown field `stream_options`"}}"#,
        expect![[r"
            LlmProtocol: `acme` refused the request (400): unknown field `stream_options`
            hint: a field that the server does not know can be left out with `providers.acme.quirks`"]],
    );
    check(
        503,
        "<!DOCTYPE html><html><head><style>a{}</style><title>Sign in</title></head><body><h1>Corporate proxy</h1></body></html>",
        expect![[r#"
            LlmConnection: api.acme.example answered with status 503 with an HTML page, not with a model's answer: "Sign in Corporate proxy"
            hint: a proxy or login page stands between, or `providers.acme.base_url` (https://api.acme.example/v1) is not the API's address"#]],
    );
}

#[test]
fn waits_redirects_and_garbage_are_named() {
    for (seconds, expected) in [
        (30, "`acme` limits the rate of requests (429)"),
        (90, "`acme` limits the rate of requests (429); it asks to wait 90 seconds"),
        (3600, "`acme` limits the rate of requests (429); it asks to wait 60 minutes"),
        (86_400, "`acme` limits the rate of requests (429); it asks to wait 24 hours"),
    ] {
        let retry_after = Some(Duration::from_secs(seconds));
        let answer = Answer { status: Some(429), html: false, retry_after, location: None, body: b"" };
        assert_eq!(peer().refusal(&answer).message, expected);
    }
    for (location, expected) in [
        ("/v2/chat?key=x", "`acme` redirects (302) to https://api.acme.example/v2/chat"),
        ("https://login.example/sso", "`acme` redirects (302) to https://login.example/sso"),
    ] {
        let location = Some(location);
        let answer = Answer { status: Some(302), html: true, retry_after: None, location, body: b"<html>" };
        assert_eq!(peer().refusal(&answer).message, expected);
    }
    let garbage = peer().unreadable(b"\x00\x01\xfe", &"no text").message;
    assert_eq!(garbage, "api.acme.example sent what cannot be understood (no text): bytes 00 01 fe");
}

#[test]
fn the_key_is_never_shown() {
    assert!(!format!("{:?}", peer()).contains(KEY));
    assert!(!refused(400, &format!("your key {KEY} is odd")).message.contains(KEY));
    assert!(!peer().unreadable(KEY.as_bytes(), &"x").message.contains(KEY));
    let base_url = Url::parse(&format!("https://me:{KEY}@api.acme.example/v1?key={KEY}")).unwrap();
    let answer = Answer { status: Some(404), html: false, retry_after: None, location: None, body: b"" };
    let hint = Peer { base_url, ..peer() }.refusal(&answer).hint.unwrap();
    assert!(hint.contains("(https://api.acme.example/v1)"), "{hint}");
}

#[test]
fn excerpts_are_one_short_line() {
    assert_eq!(excerpt("a\n  b\tc", 100), "a b c");
    assert_eq!(excerpt("äöü äöü", 9), "äöü ä…");
    assert_eq!(excerpt("", 5), "");
}
