//! A scripted answer in each of the wire formats, written independently of the code that reads it.

use serde_json::{Value, json};

use super::recorded::WireFormat;
use super::turn::{Answer, ScriptedCall};

/// The answer as a stream: each item is one event.
pub(super) fn events(format: WireFormat, answer: &Answer, model: &str) -> Vec<Vec<u8>> {
    match format {
        WireFormat::OpenAiChat => chat_events(answer, model),
        WireFormat::OpenAiResponses => responses_events(answer, model),
        WireFormat::Anthropic => anthropic_events(answer, model),
        WireFormat::Gemini => gemini_events(answer, model),
    }
}

/// The answer as one JSON text.
pub(super) fn whole(format: WireFormat, answer: &Answer, model: &str) -> Value {
    match format {
        WireFormat::OpenAiChat => {
            let calls: Vec<_> =
                answer.calls.iter().enumerate().map(|(index, call)| chat_call(index, call)).collect();
            let mut message = json!({ "role": "assistant", "content": answer.text });
            if let Some(reasoning) = &answer.reasoning {
                message["reasoning_content"] = json!(reasoning);
            }
            if !calls.is_empty() {
                message["tool_calls"] = json!(calls);
            }
            json!({
                "id": "chatcmpl-scripted", "object": "chat.completion", "model": model,
                "choices": [{ "index": 0, "message": message, "finish_reason": chat_stop(answer) }],
                "usage": chat_usage(answer),
            })
        }
        WireFormat::OpenAiResponses => responses_final(answer, model),
        WireFormat::Anthropic => {
            let mut content = Vec::new();
            if let Some(reasoning) = &answer.reasoning {
                content
                    .push(json!({ "type": "thinking", "thinking": reasoning, "signature": "sig-scripted" }));
            }
            if !answer.text.is_empty() {
                content.push(json!({ "type": "text", "text": answer.text }));
            }
            for (index, call) in answer.calls.iter().enumerate() {
                content.push(json!({
                    "type": "tool_use", "id": call_id("toolu_", index, call), "name": call.name,
                    "input": serde_json::from_str::<Value>(&call.arguments).unwrap_or(Value::Null),
                }));
            }
            json!({
                "id": "msg_scripted", "type": "message", "role": "assistant", "model": model,
                "content": content, "stop_reason": anthropic_stop(answer), "stop_sequence": null,
                "usage": anthropic_usage(answer, answer.output_tokens),
            })
        }
        WireFormat::Gemini => {
            let mut parts = Vec::new();
            if let Some(reasoning) = &answer.reasoning {
                parts.push(json!({ "text": reasoning, "thought": true }));
            }
            if !answer.text.is_empty() {
                parts.push(json!({ "text": answer.text }));
            }
            parts.extend(answer.calls.iter().map(gemini_call));
            gemini_chunk(answer, model, parts, Some(gemini_stop(answer)))
        }
    }
}

/// An error in the form of the format.
pub(super) fn error(format: WireFormat, status: u16, message: &str, code: Option<&str>) -> Value {
    match format {
        WireFormat::OpenAiChat | WireFormat::OpenAiResponses => {
            json!({ "error": { "message": message, "type": "invalid_request_error", "param": null, "code": code } })
        }
        WireFormat::Anthropic => {
            let kind = code.unwrap_or(match status {
                401 => "authentication_error",
                403 => "permission_error",
                404 => "not_found_error",
                413 => "request_too_large",
                429 => "rate_limit_error",
                529 => "overloaded_error",
                500.. => "api_error",
                _ => "invalid_request_error",
            });
            json!({ "type": "error", "error": { "type": kind, "message": message }, "request_id": "req_scripted" })
        }
        WireFormat::Gemini => {
            let name = code.unwrap_or(match status {
                401 => "UNAUTHENTICATED",
                403 => "PERMISSION_DENIED",
                404 => "NOT_FOUND",
                429 => "RESOURCE_EXHAUSTED",
                503 => "UNAVAILABLE",
                500.. => "INTERNAL",
                _ => "INVALID_ARGUMENT",
            });
            json!({ "error": { "code": status, "message": message, "status": name } })
        }
    }
}

fn event(data: &Value) -> Vec<u8> {
    format!("data: {data}\n\n").into_bytes()
}

fn named_event(data: &Value) -> Vec<u8> {
    let name = data["type"].as_str().unwrap_or_default();
    format!("event: {name}\ndata: {data}\n\n").into_bytes()
}

/// Cuts a text into pieces of at most `size` characters; an empty text has none.
fn pieces(text: &str, size: usize) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    characters.chunks(size.max(1)).map(|piece| piece.iter().collect()).collect()
}

fn call_id(prefix: &str, index: usize, call: &ScriptedCall) -> String {
    call.id.clone().unwrap_or_else(|| {
        // Ids differ between the answers of a conversation as real ones do.
        let stamp = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        format!("{prefix}{:x}_{index}", stamp.as_nanos())
    })
}

fn chat_usage(answer: &Answer) -> Value {
    json!({
        "prompt_tokens": answer.input_tokens + answer.cache_read + answer.cache_write,
        "completion_tokens": answer.output_tokens,
        "total_tokens": answer.input_tokens + answer.cache_read + answer.cache_write + answer.output_tokens,
        "prompt_tokens_details": { "cached_tokens": answer.cache_read, "cache_write_tokens": answer.cache_write },
    })
}

fn chat_stop(answer: &Answer) -> &'static str {
    match () {
        () if answer.truncated => "length",
        () if answer.refused => "content_filter",
        () if answer.calls.is_empty() => "stop",
        () => "tool_calls",
    }
}

fn chat_call(index: usize, call: &ScriptedCall) -> Value {
    json!({
        "index": index, "id": call_id("call_", index, call), "type": "function",
        "function": { "name": call.name, "arguments": call.arguments },
    })
}

fn chat_events(answer: &Answer, model: &str) -> Vec<Vec<u8>> {
    let chunk = |delta: Value, stop: Value| {
        event(&json!({
            "id": "chatcmpl-scripted", "object": "chat.completion.chunk", "created": 1, "model": model,
            "choices": [{ "index": 0, "delta": delta, "finish_reason": stop }],
        }))
    };
    let mut out = vec![chunk(json!({ "role": "assistant", "content": "" }), Value::Null)];
    for piece in pieces(answer.reasoning.as_deref().unwrap_or_default(), answer.chunk) {
        out.push(chunk(json!({ "reasoning_content": piece }), Value::Null));
    }
    for piece in pieces(&answer.text, answer.chunk) {
        out.push(chunk(json!({ "content": piece }), Value::Null));
    }
    for (index, call) in answer.calls.iter().enumerate() {
        let mut start = chat_call(index, call);
        start["function"]["arguments"] = json!("");
        out.push(chunk(json!({ "tool_calls": [start] }), Value::Null));
        for piece in pieces(&call.arguments, answer.chunk) {
            let piece = json!({ "index": index, "function": { "arguments": piece } });
            out.push(chunk(json!({ "tool_calls": [piece] }), Value::Null));
        }
    }
    out.push(chunk(json!({}), json!(chat_stop(answer))));
    out.push(event(&json!({
        "id": "chatcmpl-scripted", "object": "chat.completion.chunk", "created": 1, "model": model,
        "choices": [], "usage": chat_usage(answer),
    })));
    out.push(b"data: [DONE]\n\n".to_vec());
    out
}

fn responses_items(answer: &Answer) -> Vec<Value> {
    let mut items = Vec::new();
    if let Some(reasoning) = &answer.reasoning {
        items.push(json!({
            "type": "reasoning", "id": "rs_scripted",
            "summary": [{ "type": "summary_text", "text": reasoning }], "encrypted_content": "enc-scripted",
        }));
    }
    if !answer.text.is_empty() || answer.calls.is_empty() {
        items.push(json!({
            "type": "message", "id": "msg_scripted", "role": "assistant", "status": "completed",
            "content": [{ "type": "output_text", "text": answer.text, "annotations": [] }],
        }));
    }
    for (index, call) in answer.calls.iter().enumerate() {
        items.push(json!({
            "type": "function_call", "id": format!("fc_{index}"), "call_id": call_id("call_", index, call),
            "name": call.name, "arguments": call.arguments, "status": "completed",
        }));
    }
    items
}

fn responses_final(answer: &Answer, model: &str) -> Value {
    response_of(answer, model, &responses_items(answer))
}

fn response_of(answer: &Answer, model: &str, items: &[Value]) -> Value {
    let reason = if answer.truncated { "max_output_tokens" } else { "content_filter" };
    let incomplete = answer.truncated || answer.refused;
    json!({
        "id": "resp_scripted", "object": "response", "model": model, "output": items, "error": null,
        "status": if incomplete { "incomplete" } else { "completed" },
        "incomplete_details": if incomplete { json!({ "reason": reason }) } else { Value::Null },
        "usage": {
            "input_tokens": answer.input_tokens + answer.cache_read,
            "input_tokens_details": { "cached_tokens": answer.cache_read },
            "output_tokens": answer.output_tokens,
            "output_tokens_details": { "reasoning_tokens": 0 },
            "total_tokens": answer.input_tokens + answer.cache_read + answer.output_tokens,
        },
    })
}

fn responses_events(answer: &Answer, model: &str) -> Vec<Vec<u8>> {
    let mut out = Vec::new();
    let mut number = 0;
    let mut push = |mut data: Value| {
        data["sequence_number"] = json!(number);
        number += 1;
        out.push(named_event(&data));
    };
    push(
        json!({ "type": "response.created", "response": { "id": "resp_scripted", "status": "in_progress" } }),
    );
    let items = responses_items(answer);
    for (index, item) in items.iter().enumerate() {
        let mut start = item.clone();
        let kind = item["type"].as_str().unwrap_or_default();
        match kind {
            "reasoning" => start["summary"] = json!([]),
            "message" => start["content"] = json!([]),
            _ => start["arguments"] = json!(""),
        }
        push(json!({ "type": "response.output_item.added", "output_index": index, "item": start }));
        let id = &item["id"];
        match kind {
            "reasoning" => {
                for piece in pieces(answer.reasoning.as_deref().unwrap_or_default(), answer.chunk) {
                    push(json!({
                        "type": "response.reasoning_summary_text.delta", "item_id": id, "output_index": index,
                        "summary_index": 0, "delta": piece,
                    }));
                }
            }
            "message" => {
                for piece in pieces(&answer.text, answer.chunk) {
                    push(json!({
                        "type": "response.output_text.delta", "item_id": id, "output_index": index,
                        "content_index": 0, "delta": piece,
                    }));
                }
            }
            _ => {
                let arguments = item["arguments"].as_str().unwrap_or_default();
                for piece in pieces(arguments, answer.chunk) {
                    push(json!({
                        "type": "response.function_call_arguments.delta", "item_id": id, "output_index": index,
                        "delta": piece,
                    }));
                }
                push(json!({
                    "type": "response.function_call_arguments.done", "item_id": id, "output_index": index,
                    "arguments": arguments,
                }));
            }
        }
        push(json!({ "type": "response.output_item.done", "output_index": index, "item": item }));
    }
    let kind = if answer.truncated || answer.refused { "response.incomplete" } else { "response.completed" };
    push(json!({ "type": kind, "response": response_of(answer, model, &items) }));
    out
}

fn anthropic_usage(answer: &Answer, output: u64) -> Value {
    json!({
        "input_tokens": answer.input_tokens, "output_tokens": output,
        "cache_creation_input_tokens": answer.cache_write, "cache_read_input_tokens": answer.cache_read,
    })
}

fn anthropic_stop(answer: &Answer) -> &'static str {
    match () {
        () if answer.truncated => "max_tokens",
        () if answer.refused => "refusal",
        () if answer.calls.is_empty() => "end_turn",
        () => "tool_use",
    }
}

fn anthropic_events(answer: &Answer, model: &str) -> Vec<Vec<u8>> {
    let mut out = vec![named_event(&json!({
        "type": "message_start",
        "message": {
            "id": "msg_scripted", "type": "message", "role": "assistant", "model": model, "content": [],
            "stop_reason": null, "stop_sequence": null, "usage": anthropic_usage(answer, 1),
        },
    }))];
    out.push(named_event(&json!({ "type": "ping" })));
    let mut index = 0;
    let mut block = |start: Value, deltas: Vec<Value>| {
        out.push(named_event(
            &json!({ "type": "content_block_start", "index": index, "content_block": start }),
        ));
        for delta in deltas {
            out.push(named_event(&json!({ "type": "content_block_delta", "index": index, "delta": delta })));
        }
        out.push(named_event(&json!({ "type": "content_block_stop", "index": index })));
        index += 1;
    };
    if let Some(reasoning) = &answer.reasoning {
        let mut deltas: Vec<_> = pieces(reasoning, answer.chunk)
            .into_iter()
            .map(|piece| json!({ "type": "thinking_delta", "thinking": piece }))
            .collect();
        deltas.push(json!({ "type": "signature_delta", "signature": "sig-scripted" }));
        block(json!({ "type": "thinking", "thinking": "", "signature": "" }), deltas);
    }
    if !answer.text.is_empty() {
        let deltas = pieces(&answer.text, answer.chunk).into_iter();
        let deltas = deltas.map(|piece| json!({ "type": "text_delta", "text": piece })).collect();
        block(json!({ "type": "text", "text": "" }), deltas);
    }
    for (number, call) in answer.calls.iter().enumerate() {
        let deltas = pieces(&call.arguments, answer.chunk).into_iter();
        let deltas =
            deltas.map(|piece| json!({ "type": "input_json_delta", "partial_json": piece })).collect();
        let id = call_id("toolu_", number, call);
        block(json!({ "type": "tool_use", "id": id, "name": call.name, "input": {} }), deltas);
    }
    out.push(named_event(&json!({
        "type": "message_delta", "delta": { "stop_reason": anthropic_stop(answer), "stop_sequence": null },
        "usage": { "output_tokens": answer.output_tokens },
    })));
    out.push(named_event(&json!({ "type": "message_stop" })));
    out
}

fn gemini_stop(answer: &Answer) -> &'static str {
    match () {
        () if answer.truncated => "MAX_TOKENS",
        () if answer.refused => "SAFETY",
        () => "STOP",
    }
}

fn gemini_call(call: &ScriptedCall) -> Value {
    let arguments = serde_json::from_str::<Value>(&call.arguments).unwrap_or(Value::Null);
    let mut function = json!({ "name": call.name, "args": arguments });
    if let Some(id) = &call.id {
        function["id"] = json!(id);
    }
    json!({ "functionCall": function, "thoughtSignature": "sig-scripted" })
}

fn gemini_chunk(answer: &Answer, model: &str, parts: Vec<Value>, stop: Option<&str>) -> Value {
    let mut candidate = json!({ "index": 0, "content": { "role": "model", "parts": parts } });
    if let Some(stop) = stop {
        candidate["finishReason"] = json!(stop);
    }
    json!({
        "candidates": [candidate], "modelVersion": model,
        "usageMetadata": {
            "promptTokenCount": answer.input_tokens + answer.cache_read,
            "cachedContentTokenCount": answer.cache_read,
            "candidatesTokenCount": answer.output_tokens,
            "totalTokenCount": answer.input_tokens + answer.cache_read + answer.output_tokens,
        },
    })
}

fn gemini_events(answer: &Answer, model: &str) -> Vec<Vec<u8>> {
    let mut out = Vec::new();
    for piece in pieces(answer.reasoning.as_deref().unwrap_or_default(), answer.chunk) {
        out.push(event(&gemini_chunk(answer, model, vec![json!({ "text": piece, "thought": true })], None)));
    }
    for piece in pieces(&answer.text, answer.chunk) {
        out.push(event(&gemini_chunk(answer, model, vec![json!({ "text": piece })], None)));
    }
    for call in &answer.calls {
        out.push(event(&gemini_chunk(answer, model, vec![gemini_call(call)], None)));
    }
    out.push(event(&gemini_chunk(answer, model, vec![json!({ "text": "" })], Some(gemini_stop(answer)))));
    out
}
