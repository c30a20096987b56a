//! Window sizes in what servers say about themselves.

use serde_json::Value;

/// A number below this is no context window but something else of the same name.
const SMALLEST: u64 = 256;

/// What a server told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Told {
    /// The size it runs the model with.
    InUse(u64),
    /// The most the model could do; the server may run it with less.
    AtMost(u64),
}

/// llama.cpp's `/props`.
pub(super) fn of_props(props: &Value) -> Option<Told> {
    let size = props.pointer("/default_generation_settings/n_ctx").or_else(|| props.get("n_ctx"));
    size.and_then(tokens).map(Told::InUse)
}

/// A list of models, in the spelling of any server: the entry of this model, or the only one.
pub(super) fn of_list(list: &Value, model: &str) -> Option<Told> {
    let entries = ["data", "models"].iter().filter_map(|field| list.get(field)?.as_array());
    for entries in entries {
        let named = entries.iter().find(|entry| is_called(entry, model));
        let only = || entries.first().filter(|_| entries.len() == 1);
        if let Some(told) = named.or_else(only).and_then(of_entry) {
            return Some(told);
        }
    }
    None
}

/// One model of a list.
pub(super) fn of_entry(entry: &Value) -> Option<Told> {
    const IN_USE: [&str; 9] = [
        "/max_model_len",
        "/loaded_context_length",
        "/meta/n_ctx",
        "/n_ctx",
        "/context_length",
        "/context_window",
        "/model_info/max_input_tokens",
        "/max_input_tokens",
        "/inputTokenLimit",
    ];
    const AT_MOST: [&str; 2] = ["/max_context_length", "/top_provider/context_length"];
    let find = |paths: &[&str]| paths.iter().find_map(|path| entry.pointer(path).and_then(tokens));
    find(&IN_USE).map(Told::InUse).or_else(|| find(&AT_MOST).map(Told::AtMost))
}

/// Ollama's `/api/show`: what the model's file sets, else the most the model can do.
pub(super) fn of_show(shown: &Value) -> Option<Told> {
    let set = shown.get("parameters").and_then(Value::as_str).and_then(|parameters| {
        parameters.lines().find_map(|line| {
            let (name, value) = line.trim().split_once(char::is_whitespace)?;
            (name == "num_ctx").then(|| value.trim().trim_matches('"').parse().ok())?
        })
    });
    if let Some(tokens) = set.filter(|tokens| *tokens >= SMALLEST) {
        return Some(Told::InUse(tokens));
    }
    let facts = shown.get("model_info")?.as_object()?;
    let most = facts.iter().find(|(name, _)| name.ends_with(".context_length"));
    most.and_then(|(_, size)| tokens(size)).map(Told::AtMost)
}

fn is_called(entry: &Value, model: &str) -> bool {
    // Ollama writes the tag that is meant when none is given.
    let plain = |name: &str| name.strip_suffix(":latest").unwrap_or(name).to_owned();
    ["id", "name", "model", "model_name"]
        .iter()
        .filter_map(|field| entry.get(field)?.as_str())
        .any(|name| plain(name) == plain(model))
}

fn tokens(value: &Value) -> Option<u64> {
    let number = value.as_u64().or_else(|| value.as_str()?.parse().ok());
    number.filter(|tokens| *tokens >= SMALLEST)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn servers_tell_their_window_in_their_own_words() {
        type Reader = fn(&Value) -> Option<Told>;
        let list: Reader = |value| of_list(value, "m");
        let cases: [(&str, Reader, Value, Option<Told>); 14] = [
            (
                "llama.cpp",
                of_props,
                json!({"default_generation_settings": {"n_ctx": 2048}}),
                Some(Told::InUse(2048)),
            ),
            ("llama.cpp, no model yet", of_props, json!({"default_generation_settings": {"n_ctx": 0}}), None),
            (
                "llama.cpp's list",
                list,
                json!({"data": [{"id": "x.gguf", "meta": {"n_ctx": 2048, "n_ctx_train": 8192}}]}),
                Some(Told::InUse(2048)),
            ),
            (
                "older llama.cpp's list",
                list,
                json!({"data": [{"id": "m", "meta": {"n_ctx_train": 8192}}]}),
                None,
            ),
            ("vLLM", list, json!({"data": [{"id": "m", "max_model_len": 4096}]}), Some(Told::InUse(4096))),
            (
                "another model of vLLM",
                list,
                json!({"data": [{"id": "a", "max_model_len": 1024}, {"id": "b", "max_model_len": 4096}]}),
                None,
            ),
            (
                "Ollama, loaded",
                list,
                json!({"models": [{"name": "m:latest", "context_length": 4096}, {"name": "n"}]}),
                Some(Told::InUse(4096)),
            ),
            (
                "Ollama, set in the Modelfile",
                of_show,
                json!({"parameters": "stop \"x\"\nnum_ctx                        16384", "model_info": {"llama.context_length": 131_072}}),
                Some(Told::InUse(16384)),
            ),
            (
                "Ollama, nothing set",
                of_show,
                json!({"parameters": "stop x", "model_info": {"general.architecture": "qwen2", "qwen2.context_length": 32768}}),
                Some(Told::AtMost(32768)),
            ),
            ("Ollama, no such model", of_show, json!({"error": "model 'm' not found"}), None),
            (
                "LM Studio, loaded",
                list,
                json!({"data": [{"id": "m", "max_context_length": 32768, "loaded_context_length": 8192}]}),
                Some(Told::InUse(8192)),
            ),
            (
                "LM Studio",
                list,
                json!({"data": [{"id": "m", "max_context_length": 32768}]}),
                Some(Told::AtMost(32768)),
            ),
            (
                "LiteLLM",
                list,
                json!({"data": [{"model_name": "m", "model_info": {"max_input_tokens": 200_000}}]}),
                Some(Told::InUse(200_000)),
            ),
            (
                "OpenRouter",
                list,
                json!({"data": [{"id": "m", "context_length": 262_144}]}),
                Some(Told::InUse(262_144)),
            ),
        ];
        for (server, read, value, expected) in cases {
            assert_eq!(read(&value), expected, "{server}");
        }
    }
}
