//! Images in Gemini's form: an ordinary answer that has one among its parts.

use serde_json::{Value, json};
use stepwell_protocol::Image;

use crate::images::ImageFormat;

pub(crate) struct Images;

impl ImageFormat for Images {
    fn path(&self, model: &str) -> Vec<String> {
        vec!["models".into(), format!("{model}:generateContent")]
    }

    fn body(&self, _model: &str, prompt: &str, from: Option<&Image>) -> Option<Value> {
        let mut parts = vec![json!({"text": prompt})];
        let begin = |image: &Image| json!({"inlineData": {"mimeType": image.media_type, "data": image.data}});
        parts.extend(from.map(begin));
        Some(json!({
            "contents": [{"role": "user", "parts": parts}],
            "generationConfig": {"responseModalities": ["TEXT", "IMAGE"]},
        }))
    }

    fn image(&self, answer: &Value) -> Result<String, String> {
        let parts = answer["candidates"][0]["content"]["parts"].as_array().cloned().unwrap_or_default();
        let data = parts.iter().find_map(|part| part["inlineData"]["data"].as_str());
        if let Some(data) = data {
            return Ok(data.to_owned());
        }
        let said: String = parts.iter().filter_map(|part| part["text"].as_str()).collect();
        let reason =
            answer["promptFeedback"]["blockReason"].as_str().map(|reason| format!("it refused ({reason})"));
        let words =
            (!said.is_empty()).then(|| format!("it said: {}", said.chars().take(300).collect::<String>()));
        Err(reason.or(words).unwrap_or_else(|| "the answer holds none".into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn image_or_the_reason_is_found() {
        let answer = json!({"candidates": [{"content": {"parts": [
            {"text": "Here"}, {"inlineData": {"mimeType": "image/png", "data": "QQ=="}}]}}]});
        assert_eq!(Images.image(&answer), Ok("QQ==".into()));
        let blocked = json!({"promptFeedback": {"blockReason": "SAFETY"}});
        assert_eq!(Images.image(&blocked), Err("it refused (SAFETY)".into()));
        let words = json!({"candidates": [{"content": {"parts": [{"text": "No."}]}}]});
        assert_eq!(Images.image(&words), Err("it said: No.".into()));
        let from = Image { media_type: "image/png".into(), data: "QQ==".into() };
        assert_eq!(
            Images.body("m", "x", Some(&from)).unwrap()["contents"][0]["parts"][1]["inlineData"]["data"],
            "QQ=="
        );
    }
}
