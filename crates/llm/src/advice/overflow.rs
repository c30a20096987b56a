//! The numbers a server names when it finds a conversation too long.

use serde_json::Value;

use crate::model::Overflow;

/// What stands before the limit, and what before the length of the request. Looked for in this order.
const BEFORE_LIMIT: [&str; 14] = [
    "maximum context length is ",
    "maximum context length of ",
    "maximum prompt length is ",
    "available context size (",
    "maximum number of tokens allowed (",
    "context length of only ",
    "context window of ",
    "context window is ",
    "context limit: ",
    "input length should be [1, ",
    "cannot exceed ",
    "context size of ",
    "tokens > ",
    "limit of ",
];
const BEFORE_SENT: [&str; 12] = [
    "your messages resulted in ",
    "your request has ",
    "request contains ",
    "prompt is too long: ",
    "request (",
    "input token count (",
    "keep the first ",
    "prompt contains ",
    "you requested about ",
    "you requested ",
    "received ",
    "resulted in ",
];
/// A number below this is no count of a conversation.
const SMALLEST: u64 = 100;

/// Reads the numbers from an error's fields, else from its words.
pub(super) fn read(error: &Value, message: &str) -> Overflow {
    let field = |names: &[&str]| names.iter().find_map(|name| error.get(name)?.as_u64());
    let words = message.to_lowercase();
    let limit = field(&["n_ctx", "max_model_len", "context_length"]).or_else(|| limit_in(&words));
    // OpenAI counts the room for the answer too, and says in brackets what the messages are.
    let messages =
        number_before(&words, " in the messages").or_else(|| number_before(&words, " of text input"));
    let sent = field(&["n_prompt_tokens"])
        .or(messages)
        .or_else(|| BEFORE_SENT.iter().find_map(|mark| number_after(&words, mark)));
    Overflow { limit, sent: sent.filter(|sent| limit != Some(*sent)) }
}

fn limit_in(words: &str) -> Option<u64> {
    if let Some(found) = BEFORE_LIMIT.iter().find_map(|mark| number_after(words, mark)) {
        // Anthropic: `190000 + 20000 > 200000`.
        return words.split_once("context limit: ").map_or(Some(found), |(_, sum)| {
            sum.split_once("> ").and_then(|(_, limit)| leading_number(limit)).or(Some(found))
        });
    }
    number_before(words, " maximum context length")
}

fn number_after(words: &str, mark: &str) -> Option<u64> {
    words.match_indices(mark).find_map(|(at, _)| leading_number(&words[at + mark.len()..]))
}

fn number_before(words: &str, mark: &str) -> Option<u64> {
    let before = &words[..words.find(mark)?];
    let start = before.rfind(|character: char| !character.is_ascii_digit() && character != ',');
    leading_number(&before[start.map_or(0, |at| at + 1)..])
}

fn leading_number(text: &str) -> Option<u64> {
    let digits: String =
        text.chars().take_while(|character| character.is_ascii_digit() || *character == ',').collect();
    let number = digits.replace(',', "").parse().ok()?;
    (number >= SMALLEST).then_some(number)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_server_names_its_numbers_in_its_own_words() {
        let by_words = |message: &str| read(&Value::Null, message);
        for (server, message, limit, sent) in [
            (
                "OpenAI",
                "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.",
                Some(8192),
                Some(9001),
            ),
            (
                "OpenAI with an answer's room",
                "This model's maximum context length is 4097 tokens. However, you requested 5000 tokens (4000 in the messages, 1000 in the completion).",
                Some(4097),
                Some(4000),
            ),
            (
                "vLLM",
                "'max_tokens' is too large: 500. This model's maximum context length is 2048 tokens and your request has 1900 input tokens (500 > 2048 - 1900).",
                Some(2048),
                Some(1900),
            ),
            ("Anthropic", "prompt is too long: 210000 tokens > 200000 maximum", Some(200_000), Some(210_000)),
            (
                "Anthropic with an answer's room",
                "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length",
                Some(200_000),
                None,
            ),
            (
                "Gemini",
                "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
                Some(1_048_576),
                Some(1_200_000),
            ),
            (
                "llama.cpp",
                "request (3031 tokens) exceeds the available context size (2048 tokens), try increasing it",
                Some(2048),
                Some(3031),
            ),
            (
                "LM Studio",
                "Trying to keep the first 5193 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens",
                Some(4096),
                Some(5193),
            ),
            (
                "OpenRouter",
                "This endpoint's maximum context length is 32768 tokens. However, you requested about 40123 tokens (39123 of text input, 1000 in the output).",
                Some(32768),
                Some(39123),
            ),
            (
                "xAI",
                "This model's maximum prompt length is 131,072 but the request contains 137,395 tokens.",
                Some(131_072),
                Some(137_395),
            ),
            ("Qwen", "Range of input length should be [1, 30720]", Some(30720), None),
            (
                "Mistral",
                "Prompt contains 40000 tokens, too large for model with 32768 maximum context length",
                Some(32768),
                Some(40000),
            ),
            ("a server without numbers", "Input is too long for requested model.", None, None),
        ] {
            assert_eq!(by_words(message), Overflow { limit, sent }, "{server}");
        }
        let fields = json!({"message": "too long", "n_prompt_tokens": 3031, "n_ctx": 2048});
        assert_eq!(read(&fields, "too long"), Overflow { limit: Some(2048), sent: Some(3031) });
    }
}
