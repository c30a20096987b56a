//! From a call's outcome to what the client is given.

use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::Value;
use stepwell_tool_runtime::{Outcome, RegisteredTool};

use crate::tool_list::structured_schema;

/// A tool's limit is about its text; the same as data may be so many times as long.
const MOST_OF_LIMIT: usize = 4;

/// A failure of the tool is a result with `isError`: the model reads it and can do better.
pub(crate) fn call_result(outcome: Outcome, tool: &RegisteredTool) -> CallToolResult {
    let Outcome { result, output, .. } = outcome;
    if result.error.is_some() {
        return CallToolResult::error(vec![ContentBlock::text(result.output)]);
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
        return CallToolResult::error(vec![ContentBlock::text(told)]);
    }
    let text = match &structured {
        Some(_) => compact(result.output),
        None => result.output,
    };
    let mut content = vec![ContentBlock::text(text)];
    content.extend(result.images.into_iter().map(|image| ContentBlock::image(image.data, image.media_type)));
    let mut answer = CallToolResult::success(content);
    answer.structured_content = structured;
    answer
}

/// Text that is JSON without the white space that only people need; any other text as it is.
fn compact(text: String) -> String {
    if !text.starts_with('{') {
        return text;
    }
    match serde_json::from_str::<Value>(&text) {
        Ok(value) => value.to_string(),
        Err(_) => text,
    }
}

#[cfg(test)]
mod tests {
    use super::compact;

    #[test]
    fn only_json_is_compacted() {
        let table = [
            ("{\n  \"b\": 1,\n  \"a\": [1, 2]\n}", r#"{"b":1,"a":[1,2]}"#),
            ("{not json", "{not json"),
            ("plain  text\n", "plain  text\n"),
            ("{}\n\nnote: more", "{}\n\nnote: more"),
        ];
        for (text, expected) in table {
            assert_eq!(compact(text.to_owned()), expected);
        }
    }
}
