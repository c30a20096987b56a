//! The estimate against a real tokenizer, by kind of text.

use proptest::prelude::*;
use serde_json::json;
use stepwell_protocol::Image;

use super::*;

const PROSE: &str = "The debugger stopped in the second iteration of the loop, where the total had already become \
negative. Nobody had expected that, because the amounts were read from a file that was written by the same program \
a moment earlier. We looked at the caller's frame, compared the two values and found that one of them had been parsed \
with the wrong locale: a comma stood where a point should have been. It is a small mistake, but it explains why the \
tests passed on every machine except the one in the corner of the office. Before changing anything, please write \
down what you observed; evidence survives a rewrite, opinions do not. If the fix turns out to be larger than a few \
lines, stop and ask. Otherwise run the whole suite again, commit the change with a message that says what the user \
saw, and close the issue.";

const PYTHON: &str = r#"
import json
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Account:
    owner: str
    entries: list[float] = field(default_factory=list)

    def balance(self) -> float:
        return round(sum(self.entries), 2)


def load_accounts(path: Path) -> dict[str, Account]:
    """Reads accounts from a JSON file; an unknown owner gets an empty account."""
    accounts: dict[str, Account] = {}
    with path.open(encoding="utf-8") as handle:
        for row in json.load(handle):
            account = accounts.setdefault(row["owner"], Account(row["owner"]))
            account.entries.append(float(row["amount"]))
    return accounts


if __name__ == "__main__":
    for name, account in sorted(load_accounts(Path("accounts.json")).items()):
        print(f"{name:>12} {account.balance():10.2f}")
"#;

const JSON: &str = r#"{"id": "chatcmpl-8f3a", "object": "chat.completion", "created": 1731709412, "model": "scripted",
"choices": [{"index": 0, "message": {"role": "assistant", "content": null, "tool_calls": [{"id": "call_1", "type":
"function", "function": {"name": "read_file", "arguments": "{\"file_path\": \"src/main.rs\", \"offset\": 120}"}}]},
"finish_reason": "tool_calls"}], "usage": {"prompt_tokens": 2048, "completion_tokens": 57, "total_tokens": 2105,
"prompt_tokens_details": {"cached_tokens": 1920}}, "settings": {"theme": "dark", "font_size": 14, "autosave": true}}"#;

const CHINESE: &str = "调试器在循环的第二次迭代中停了下来，此时总数已经变成负数。没有人预料到这一点，因为金额是从同一个程序\
刚刚写入的文件中读取的。我们查看了调用者的栈帧，比较了两个值，发现其中一个是用错误的区域设置解析的：本该是小数点的地方出现了逗号。\
这是一个小错误，但它解释了为什么测试在除办公室角落那台机器之外的所有机器上都能通过。在修改任何内容之前，请先记录你观察到的情况。";

#[test]
fn the_estimate_is_close_for_every_kind_of_text() {
    let tokenizer = tiktoken_rs::o200k_base().unwrap();
    for (kind, text) in [
        ("prose", PROSE),
        ("rust", include_str!("retry.rs")),
        ("more rust", include_str!("wire.rs")),
        ("python", PYTHON),
        ("json", JSON),
        ("chinese", CHINESE),
    ] {
        let real = tokenizer.encode_ordinary(text).len() as f64;
        let ratio = estimate_text(text) as f64 / real;
        println!("{kind}: {ratio:.3}");
        assert!((0.93..=1.15).contains(&ratio), "{kind}: {ratio:.3} of {real} tokens");
    }
}

#[test]
fn messages_count_everything_that_is_sent() {
    let text = estimate_text("Hello there");
    assert_eq!(estimate_message(&Message::user("Hello there")), text + FRAME_TOKENS);
    let image = Image { media_type: "image/png".into(), data: "x".repeat(100_000) };
    let with_image =
        Message::new(stepwell_protocol::Role::User, vec![Part::text("Hello there"), Part::Image { image }]);
    assert_eq!(estimate_message(&with_image), text + FRAME_TOKENS + IMAGE_TOKENS);
    let tool = ToolDefinition {
        name: "bash".into(),
        description: "Runs.".into(),
        input_schema: json!({ "type": "object" }),
        forms: stepwell_protocol::CallForms::default(),
    };
    assert!(estimate_tool(&tool) > 10);
}

proptest! {
    #[test]
    fn any_text_has_an_estimate(text in "\\PC{0,200}") {
        let estimate = estimate_text(&text);
        prop_assert!(estimate <= 2 * text.len() as u64 + 1);
        prop_assert!(text.trim().is_empty() || estimate > 0);
    }
}
