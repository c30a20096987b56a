//! Images in OpenAI's form, which many servers speak.

use serde_json::{Value, json};
use stepwell_protocol::Image;

use super::ImageFormat;

pub(crate) struct Images;

impl ImageFormat for Images {
    fn path(&self, _model: &str) -> Vec<String> {
        vec!["images".into(), "generations".into()]
    }

    fn body(&self, model: &str, prompt: &str, from: Option<&Image>) -> Option<Value> {
        if from.is_some() {
            return None;
        }
        let mut body = json!({"model": model, "prompt": prompt, "n": 1});
        // `gpt-image-1` always answers with the image itself and refuses the field; others answer with an address.
        if !model.contains("gpt-image") {
            body["response_format"] = json!("b64_json");
        }
        Some(body)
    }

    fn image(&self, answer: &Value) -> Result<String, String> {
        let first = &answer["data"][0];
        match (&first["b64_json"], &first["url"]) {
            (Value::String(data), _) => Ok(data.clone()),
            (_, Value::String(url)) if url.starts_with("data:") => url
                .split_once("base64,")
                .map(|(_, data)| data.to_owned())
                .ok_or_else(|| "its address holds no image".into()),
            // A server must not make us fetch an address of its choice.
            (_, Value::String(_)) => Err("it answered with an address instead of an image".into()),
            _ => Err("the answer holds none".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn image_is_found_and_addresses_are_not_followed() {
        assert_eq!(
            Images.body("gpt-image-1", "a cat", None).unwrap(),
            json!({"model": "gpt-image-1", "prompt": "a cat", "n": 1})
        );
        assert_eq!(Images.body("sd", "a cat", None).unwrap()["response_format"], "b64_json");
        assert_eq!(Images.image(&json!({"data": [{"b64_json": "QQ=="}]})), Ok("QQ==".into()));
        assert_eq!(
            Images.image(&json!({"data": [{"url": "data:image/png;base64,QQ=="}]})),
            Ok("QQ==".into())
        );
        for answer in [json!({}), json!({"data": []}), json!({"data": [{"url": "http://169.254.169.254/"}]})]
        {
            assert!(Images.image(&answer).is_err(), "{answer}");
        }
    }
}
