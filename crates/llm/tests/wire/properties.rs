//! Properties that hold for any answer, over real HTTP.

use proptest::prelude::*;
use stepwell_llm::Delta;
use stepwell_test_support::{ModelServer, Turn};

use crate::support::{KINDS, collect, hello, model};

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Property 15: the streamed tokens, concatenated, are the whole response.
    #[test]
    fn property_15_streamed_tokens_concatenated_equal_the_whole_response(
        text in "[\\PC\n\t\"\\\\\u{0}-\u{1f}é漢😀]{1,120}",
        chunk in 1usize..12,
        write in 1usize..400,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            for kind in KINDS {
                let server = ModelServer::start();
                server.script([
                    Turn::text(text.clone()).chunk_size(chunk).write_size(write),
                    Turn::text(text.clone()).without_streaming(),
                ]);
                let model = model(&server, kind);
                for _ in 0..2 {
                    let (deltas, error) = collect(&model, hello()).await;
                    assert_eq!(error, None, "{kind:?}");
                    let tokens = deltas.iter().filter_map(|delta| match delta {
                        Delta::Text(text) => Some(text.as_str()),
                        _ => None,
                    });
                    assert_eq!(tokens.collect::<String>(), text, "{kind:?}");
                }
            }
        });
    }
}
