//! From a call's outcome to what the client is given.

use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::Value;
use stepwell_tool_runtime::{Category, Outcome, RegisteredTool};

use crate::tool_list::structured_schema;

/// A tool's limit is about its text; the same as data may be so many times as long.
const MOST_OF_LIMIT: usize = 4;

/// A failure of the tool is a result with `isError`: the model reads it and can do better.
pub(crate) fn call_result(outcome: Outcome, tool: &RegisteredTool) -> CallToolResult {
    let Outcome { result, output, .. } = outcome;
    if result.error.is_some() {
        return failed(result.output, tool);
    }
    let structured = output.filter(Value::is_object).filter(|_| structured_schema(tool).is_some());
    let size = structured.as_ref().map_or(0, |value| value.to_string().len());
    if size > MOST_OF_LIMIT * tool.spec().output_limit {
        // The text is cut and names the file with the whole. A schema promises data where there is no error, so this is
        // one: half of the data would pass for all of it.
        let told = format!(
            "the answer has {size} bytes, too many to give as a whole; ask for less\n\n{}",
            result.output
        );
        return failed(told, tool);
    }
    let mut content = match &structured {
        Some(_) => data_and_notes(&result.output),
        None => vec![ContentBlock::text(result.output)],
    };
    content.extend(result.images.into_iter().map(|image| ContentBlock::image(image.data, image.media_type)));
    let mut answer = CallToolResult::success(content);
    answer.structured_content = structured;
    answer
}

/// The result of a call that failed. Every answer of a debugger's tool is an object with a `status`, also where it is
/// refused or its arguments do not fit, before the tool itself can say anything.
fn failed(text: String, tool: &RegisteredTool) -> CallToolResult {
    if tool.spec().category != Category::Debug {
        return CallToolResult::error(vec![ContentBlock::text(text)]);
    }
    let has_status = first_value(&text).is_some_and(|(value, _)| value.get("status").is_some());
    CallToolResult::error(if has_status {
        data_and_notes(&text)
    } else {
        vec![ContentBlock::text(serde_json::json!({"status": "error", "message": text}).to_string())]
    })
}

/// A block of JSON, without the white space that only people need, and a block of what was noted about the call: who
/// reads the data must find nothing else in its block. Text that does not begin with JSON stays as it is.
fn data_and_notes(text: &str) -> Vec<ContentBlock> {
    let Some((value, rest)) = first_value(text) else { return vec![ContentBlock::text(text)] };
    let mut blocks = vec![ContentBlock::text(value.to_string())];
    if !rest.trim().is_empty() {
        blocks.push(ContentBlock::text(rest.trim()));
    }
    blocks
}

/// Returns the JSON object that a text begins with, and what follows it.
fn first_value(text: &str) -> Option<(Value, &str)> {
    if !text.starts_with('{') {
        return None;
    }
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let value = values.next()?.ok()?;
    Some((value, &text[values.byte_offset()..]))
}

#[cfg(test)]
mod tests {
    use super::first_value;

    #[test]
    fn json_is_compacted_and_notes_are_apart() {
        let table = [
            ("{\n  \"b\": 1,\n  \"a\": [1, 2]\n}", Some((r#"{"b":1,"a":[1,2]}"#, ""))),
            ("{not json", None),
            ("plain  text\n", None),
            ("{}\n\nnote: more", Some(("{}", "\n\nnote: more"))),
        ];
        for (text, expected) in table {
            let found = first_value(text);
            let found = found.as_ref().map(|(value, rest)| (value.to_string(), *rest));
            assert_eq!(found.as_ref().map(|(value, rest)| (value.as_str(), *rest)), expected, "{text}");
        }
    }
}
