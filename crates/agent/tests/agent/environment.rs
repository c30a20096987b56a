//! What a task is told about its surroundings, and what the queries and a queued message bring.

use stepwell_protocol::{Event, Part};

use crate::harness::{Ended, Harness, Setup, say};

fn surroundings(request: &stepwell_llm::Request) -> Vec<String> {
    let parts = request.messages.iter().flat_map(|message| &message.parts);
    let texts = parts.filter(|part| part.is_surroundings());
    texts.filter_map(|part| if let Part::Text { text } = part { Some(text.clone()) } else { None }).collect()
}

/// Where nothing changed nothing is said; what is said stands behind the message, and only once.
#[tokio::test]
async fn only_news_is_told_and_the_beginning_stays() {
    let mut setup = Setup::new(vec![say("one"), say("two"), say("three")]);
    setup.environment = true;
    let harness = Harness::new(setup);
    let session = harness.start("go").await;
    assert_eq!(harness.run_end(&session).await, Some(Ended::Answered("one".into())));
    let items = vec![stepwell_protocol::TodoItem {
        id: "1".into(),
        content: "Find the cause".into(),
        status: stepwell_protocol::TodoStatus::InProgress,
        priority: stepwell_protocol::TodoPriority::default(),
    }];
    session.record(vec![Event::Todo { items }]).await.unwrap();
    for words in ["go on", "and on"] {
        let parts = vec![Part::text(words)];
        let command = stepwell_protocol::Command::SendMessage { task: session.task.clone(), parts };
        harness.engine.submit(command).await.unwrap();
        harness.run_end(&session).await;
    }
    let requests = harness.model.requests.lock().clone();
    assert!(surroundings(&requests[0]).is_empty(), "{:?}", surroundings(&requests[0]));
    let second = surroundings(&requests[1]);
    assert_eq!(second.len(), 1, "{second:?}");
    assert!(second[0].contains("- [-] Find the cause") && second[0].contains("Time: now"), "{second:?}");
    assert!(second[0].len() < 200, "{} bytes", second[0].len());
    // The third tells no old news, and what was sent before stands unchanged at the beginning.
    let third = surroundings(&requests[2]);
    assert_eq!(third[0], second[0]);
    assert!(third[1..].iter().all(|text| !text.contains("Find the cause")), "{third:?}");
    assert_eq!(requests[2].messages[..requests[1].messages.len()], requests[1].messages[..]);
}
