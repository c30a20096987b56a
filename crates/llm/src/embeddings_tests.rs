//! Vectors over real HTTP: what is sent, and every way in which an answer can be useless.

use expect_test::{Expect, expect};
use stepwell_test_support::{Embedded, EmbeddingServer};

use super::*;
use crate::presets::{ProviderConfig, ProviderKind};
use stepwell_net::Timeouts;

fn model(url: String, dimensions: Option<u32>) -> EmbeddingModel {
    let config = ProviderConfig {
        kind: Some(ProviderKind::OpenaiChat),
        base_url: Some(url),
        ..ProviderConfig::default()
    };
    EmbeddingModel::new(EmbeddingOptions {
        provider: Provider::resolve("embeddings", Some(&config)).unwrap(),
        model: "small".to_owned(),
        key: Some("key-of-the-test".to_owned().into()),
        dimensions,
        client: HttpClient::new(Timeouts::STANDARD),
    })
    .unwrap()
}

fn ask(server: &EmbeddingServer, dimensions: Option<u32>, deadline: Duration) -> String {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let texts = ["one".to_owned(), "two".to_owned()];
    match runtime.block_on(model(server.url(), dimensions).embed(&texts, deadline)) {
        Ok(vectors) => format!("{vectors:?}"),
        Err(error) => error.message,
    }
}

const PATIENT: Duration = Duration::from_secs(60);

#[track_caller]
fn check(answer: Embedded, dimensions: Option<u32>, deadline: Duration, expected: Expect) {
    let server = EmbeddingServer::start(move |_| answer.clone());
    let shown = ask(&server, dimensions, deadline);
    let url = server.url();
    let address = url.trim_start_matches("http://").trim_end_matches("/v1");
    expected.assert_eq(&shown.replace(address, "[SERVER]"));
}

#[test]
fn texts_are_sent_with_model_and_key() {
    let server = EmbeddingServer::start(|_| Embedded::Vectors(vec![vec![1.0, 0.5], vec![0.0, 1.0]]));
    assert_eq!(ask(&server, Some(2), PATIENT), "[[1.0, 0.5], [0.0, 1.0]]");
    let request = server.requests().remove(0);
    assert_eq!(request.path, "/v1/embeddings");
    assert_eq!(request.authorization.as_deref(), Some("Bearer key-of-the-test"));
    let expected =
        json!({"model": "small", "input": ["one", "two"], "encoding_format": "float", "dimensions": 2});
    assert_eq!(request.body, expected);
}

#[test]
fn rows_may_come_in_any_order() {
    let body = r#"{"data": [{"index": 1, "embedding": [2.0]}, {"index": 0, "embedding": [1.0]}]}"#;
    check(Embedded::Status(200, body.to_owned()), None, PATIENT, expect!["[[1.0], [2.0]]"]);
    let unnumbered = r#"{"data": [{"embedding": [1]}, {"embedding": [2]}], "usage": {}}"#;
    check(Embedded::Status(200, unnumbered.to_owned()), None, PATIENT, expect!["[[1.0], [2.0]]"]);
}

#[test]
fn useless_answers_are_explained() {
    let vectors =
        |lengths: &[usize]| Embedded::Vectors(lengths.iter().map(|length| vec![1.0; *length]).collect());
    check(vectors(&[2]), None, PATIENT, expect!["the vectors of `small` cannot be used: 1 came for 2 texts"]);
    check(
        vectors(&[2, 3]),
        None,
        PATIENT,
        expect!["the vectors of `small` cannot be used: one has 3 numbers instead of 2"],
    );
    check(
        vectors(&[2, 2]),
        Some(4),
        PATIENT,
        expect!["the vectors of `small` cannot be used: one has 2 numbers instead of 4"],
    );
    check(
        vectors(&[0, 0]),
        None,
        PATIENT,
        expect!["the vectors of `small` cannot be used: they have 0 numbers"],
    );
    let twice = r#"{"data": [{"index": 0, "embedding": [1]}, {"index": 0, "embedding": [2]}]}"#;
    check(
        Embedded::Status(200, twice.to_owned()),
        None,
        PATIENT,
        expect!["the vectors of `small` cannot be used: one is said to be of text 0"],
    );
    check(
        Embedded::Status(200, "<html>hello".to_owned()),
        None,
        PATIENT,
        expect![[
            r#"[SERVER] sent what cannot be understood (expected value at line 1 column 1): "<html>hello""#
        ]],
    );
    let refusal = r#"{"error": {"message": "no such model"}}"#;
    check(
        Embedded::Status(404, refusal.to_owned()),
        None,
        PATIENT,
        expect!["`embeddings` does not know the model `small` (404): no such model"],
    );
    check(Embedded::Silence, None, Duration::from_millis(300), expect!["[SERVER] sent nothing for 0.3 s"]);
}
