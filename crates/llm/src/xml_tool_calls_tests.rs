//! Calls in text: every form, every border, and what only looks like a call.

use expect_test::{Expect, expect};
use proptest::prelude::*;
use serde_json::json;
use stepwell_protocol::{CallForms, ToolDefinition};

use super::*;

fn tools() -> Arc<[ToolDefinition]> {
    let tool = |name: &str, schema: serde_json::Value| ToolDefinition {
        name: name.into(),
        description: format!("The tool {name}."),
        input_schema: schema,
        forms: CallForms::default(),
    };
    Arc::from([
        tool(
            "bash",
            json!({ "type": "object", "required": ["command"], "properties": {
                "command": { "type": "string", "description": "What to run." },
                "timeout": { "type": ["integer", "null"] }, "background": { "type": "boolean" } } }),
        ),
        tool(
            "write",
            json!({ "type": "object", "required": ["path", "content"], "properties": {
                "path": { "type": "string" }, "content": { "type": "string" } } }),
        ),
        tool("ask", json!({ "type": "object", "properties": { "options": { "type": "array" } } })),
        tool("list", json!({ "type": "object", "properties": {} })),
        ToolDefinition {
            forms: CallForms {
                aliases: vec!["read_file".into()],
                parameters: [("path", "file_path"), ("args", "args")]
                    .map(|(alias, name)| (alias.to_owned(), name.to_owned()))
                    .into(),
                example: None,
            },
            ..tool(
                "read",
                json!({ "type": "object", "properties": {
                    "file_path": { "type": "string" }, "limit": { "type": "integer" } } }),
            )
        },
    ])
}

#[test]
fn aliases_of_tools_and_parameters_are_calls() {
    for (text, name, arguments) in [
        ("<read_file>\n<path>a.rs</path>\n</read_file>", "read", r#"{"path":"a.rs"}"#),
        ("<read><path>a.rs</path><limit>5</limit></read>", "read", r#"{"path":"a.rs","limit":5}"#),
        (
            "<read_file>\n<args>\n<file><path>a</path><line_range>1-5</line_range></file>\n</args>\n</read_file>",
            "read",
            r#"{"args":"<file><path>a</path><line_range>1-5</line_range></file>"}"#,
        ),
        ("<bash><args><command>ls</command></args></bash>", "bash", r#"{"command":"ls"}"#),
        ("<bash>\n<arguments>{\"command\": \"ls\"}</arguments>\n</bash>", "bash", r#"{"command":"ls"}"#),
        ("<function=read_file><parameter=path>a</parameter></function>", "read", r#"{"path":"a"}"#),
        // What the tool does not have is kept, so that the executor can say so.
        ("<bash><cmd>ls</cmd></bash>", "bash", r#"{"cmd":"ls"}"#),
        ("<read_file><path>a</path><lines>3</lines></read_file>", "read", r#"{"path":"a","lines":"3"}"#),
    ] {
        let pieces = [Piece::CallStart { name: name.into() }, Piece::Arguments(arguments.into())];
        for size in [1, 3, 1000] {
            assert_eq!(parse(by_characters(text, size)), pieces, "{text} in pieces of {size}");
        }
        // A call that is over is known to be before the text goes on.
        let mut parser = Parser::new(tools());
        assert_eq!(
            parser
                .feed(&format!("{text} and"))
                .iter()
                .filter(|piece| matches!(piece, Piece::Arguments(_)))
                .count(),
            1,
            "{text}"
        );
    }
}

/// What comes of the text fed in these pieces, joined.
fn parse<'a>(chunks: impl IntoIterator<Item = &'a str>) -> Vec<Piece> {
    parse_until(TextEnd::Meant, chunks)
}

fn parse_until<'a>(end: TextEnd, chunks: impl IntoIterator<Item = &'a str>) -> Vec<Piece> {
    let mut parser = Parser::new(tools());
    let mut pieces = Vec::new();
    for chunk in chunks {
        pieces.extend(parser.feed(chunk));
    }
    pieces.extend(parser.finish(end));
    let mut joined: Vec<Piece> = Vec::new();
    for piece in pieces {
        match (joined.last_mut(), piece) {
            (Some(Piece::Text(last)), Piece::Text(text)) => last.push_str(&text),
            (_, piece) => joined.push(piece),
        }
    }
    joined
}

fn by_characters(text: &str, size: usize) -> Vec<&str> {
    let mut borders: Vec<usize> = text.char_indices().map(|(at, _)| at).step_by(size).collect();
    borders.push(text.len());
    borders.windows(2).map(|pair| &text[pair[0]..pair[1]]).collect()
}

fn check(text: &str, expect: Expect) {
    let whole = parse([text]);
    for size in [1, 2, 3, 5, 17] {
        assert_eq!(parse(by_characters(text, size)), whole, "in pieces of {size}");
    }
    let lines: Vec<String> = whole.iter().map(|piece| format!("{piece:?}\n")).collect();
    expect.assert_eq(&lines.concat());
}

#[test]
fn a_call_with_chatter_around_it() {
    check(
        "Let me look.\n\n<bash>\n<command>ls -la</command>\n<timeout>30</timeout>\n<background>true</background>\n</bash>\n\nThen we see.",
        expect![[r#"
            Text("Let me look.")
            CallStart { name: "bash" }
            Arguments("{\"command\":\"ls -la\",\"timeout\":30,\"background\":true}")
            Text("\n\nThen we see.")
        "#]],
    );
}

#[test]
fn values_may_contain_anything() {
    check(
        "<write><path>a.xml</path><content>\n<a>1 < 2</a>\n</content> </write> <path>x</path>\n</content>\n</write>",
        expect![[r#"
            CallStart { name: "write" }
            Arguments("{\"path\":\"a.xml\",\"content\":\"<a>1 < 2</a>\"}")
            Text(" <path>x</path>\n</content>\n</write>")
        "#]],
    );
    check(
        "<write><path>t</path><content>use </content> to end </write> it\n</content>\n</write>",
        expect![[r#"
            CallStart { name: "write" }
            Arguments("{\"path\":\"t\",\"content\":\"use </content> to end </write> it\"}")
        "#]],
    );
}

#[test]
fn fences_and_backticks_are_text() {
    check(
        "Write:\n```xml\n<bash><command>ls</command></bash>\n```\nor `<bash>` and 1 <b, <basher>.",
        expect![[r#"
            Text("Write:\n```xml\n<bash><command>ls</command></bash>\n```\nor `<bash>` and 1 <b, <basher>.")
        "#]],
    );
}

#[test]
fn json_in_a_tag() {
    check(
        "Hm.<tool_call>\n{\"name\": \"bash\", \"arguments\": {\"command\": \"echo '</tool_call>'\"}}\n</tool_call>\n<tool_call>{\"name\":\"list\"}</tool_call>",
        expect![[r#"
            Text("Hm.")
            CallStart { name: "bash" }
            Arguments("{\"command\":\"echo '</tool_call>'\"}")
            CallStart { name: "list" }
            Arguments("{}")
        "#]],
    );
}

#[test]
fn functions_with_parameters() {
    check(
        "<tool_call>\n<function=bash>\n<parameter=command>\nls\n</parameter>\n<parameter=timeout>\n5\n</parameter>\n</function>\n</tool_call>\ndone <function=nope>",
        expect![[r#"
            CallStart { name: "bash" }
            Arguments("{\"command\":\"ls\",\"timeout\":5}")
            Text("\n\ndone <function=nope>")
        "#]],
    );
    check(
        "<function=bash>{\"command\": \"ls\"}</function>",
        expect![[r#"
            CallStart { name: "bash" }
            Arguments("{\"command\":\"ls\"}")
        "#]],
    );
}

#[test]
fn lists_and_tools_without_parameters() {
    check(
        "<ask><options>[\"a\", \"b\"]</options></ask><list></list><bash>pwd</bash>",
        expect![[r#"
            CallStart { name: "ask" }
            Arguments("{\"options\":[\"a\",\"b\"]}")
            CallStart { name: "list" }
            Arguments("{}")
            CallStart { name: "bash" }
            Arguments("{\"command\":\"pwd\"}")
        "#]],
    );
}

#[test]
fn a_call_cut_off_is_no_json() {
    check(
        "<write><path>a</path><content>half a fi",
        expect![[r#"
            CallStart { name: "write" }
            Arguments("{\"path\":\"a\",\"content\":\"half a fi")
        "#]],
    );
    check(
        "<write><path>a</path><content>all</content>\n",
        expect![[r#"
            CallStart { name: "write" }
            Arguments("{\"path\":\"a\",\"content\":\"all\"}")
        "#]],
    );
}

#[test]
fn a_call_that_a_limit_cut_off_is_never_whole() {
    for (text, arguments) in [
        ("<bash><command>rm -r a</command>\n<tim", r#"{"command":"rm -r a""#),
        ("<function=bash><parameter=command>rm -r a</parameter>\n<para", r#"{"command":"rm -r a""#),
        ("<function=bash>rm -r /a", r#"{"command":"rm -r /a""#),
        ("<function=list>", "{"),
    ] {
        let pieces = parse_until(TextEnd::CutOff, [text]);
        assert_eq!(pieces.last(), Some(&Piece::Arguments(arguments.to_owned())), "{text}");
    }
    let whole = "<bash><command>ls</command></bash>";
    assert_eq!(parse_until(TextEnd::CutOff, [whole]), parse([whole]));
}

#[test]
fn a_forgotten_end_tag_is_forgiven() {
    check(
        "<bash><command>ls</bash> and on",
        expect![[r#"
            CallStart { name: "bash" }
            Arguments("{\"command\":\"ls")
            Text(" and on")
        "#]],
    );
}

#[test]
fn half_a_tag_at_the_end_is_text() {
    check(
        "a <ba",
        expect![[r#"
            Text("a <ba")
        "#]],
    );
    check(
        "I would use <write>, I think.\n",
        expect![[r#"
            Text("I would use <write>, I think.\n")
        "#]],
    );
}

#[test]
fn no_half_tag_is_ever_streamed() {
    let text = "Now <bash><command>ls</command></bash>";
    for border in 0..text.len() {
        let mut parser = Parser::new(tools());
        for piece in parser.feed(&text[..border]) {
            if let Piece::Text(text) = piece {
                assert!(!text.contains('<'), "border {border}: {text}");
            }
        }
    }
}

#[test]
fn the_catalogue_and_the_past_are_told() {
    let system = render::system(&"Be careful.".into(), &tools()[..1]);
    assert!(system.starts_with("Be careful.\n"));
    assert!(system.ends_with(
        "## bash\nThe tool bash.\nParameters:\n- command (string, required): What to run.\n\
         - timeout ([\"integer\",\"null\"], optional): \n- background (boolean, optional): \n\
         Use:\n<bash>\n<command>ls -la</command>\n</bash>\n"
    ));
}

proptest! {
    #[test]
    fn chunking_never_changes_the_calls(
        words in prop::collection::vec(prop::sample::select(vec![
            "<bash>", "</bash>", "<command>", "</command>", "ls", " ", "\n", "```", "`", "<write>", "<path>", "</path>",
            "<content>", "</content>", "</write>", "<tool_call>", "</tool_call>", "{\"name\":\"bash\"}", "<function=bash>",
            "<parameter=command>", "</parameter>", "</function>", "<", "é", "<timeout>", "7", "</timeout>", "<function=", ">",
        ]), 0..24),
        size in 1usize..6,
    ) {
        let text = words.concat();
        prop_assert_eq!(parse(by_characters(&text, size)), parse([text.as_str()]));
    }

    #[test]
    fn text_without_calls_is_kept_whole(text in "[a-z<>/ \n`é]{0,60}") {
        let pieces = parse(by_characters(&text, 2));
        prop_assume!(pieces.iter().all(|piece| matches!(piece, Piece::Text(_))));
        let joined: String = pieces.iter().map(|piece| match piece { Piece::Text(text) => text.as_str(), _ => "" }).collect();
        prop_assert_eq!(joined, text);
    }
}
