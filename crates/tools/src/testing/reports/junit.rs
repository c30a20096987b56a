//! JUnit's XML, which many frameworks write.

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::milliseconds;
use crate::testing::outcome::{TestCase, TestStatus};

/// How a test's id is made of its class and name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Naming {
    /// `tests/test_a.py::TestX::test_y`.
    Pytest,
    /// The name alone; the class is the binary.
    Nextest,
    /// `Suite.Name`.
    Dotted,
    /// The name alone; the class says nothing.
    Bare,
}

/// What the text between two tags belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Within {
    Nothing,
    Failure,
    Output,
}

/// Reads every test case. What is no XML any more ends the reading.
pub(super) fn read(report: &str, naming: Naming) -> Vec<TestCase> {
    let mut reader = Reader::from_str(report);
    let mut found: Vec<TestCase> = Vec::new();
    let mut open: Option<TestCase> = None;
    let mut within = Within::Nothing;
    let mut text = String::new();
    loop {
        match reader.read_event() {
            Ok(Event::Start(tag)) => match tag.local_name().as_ref() {
                "testcase" => open = Some(begin(&tag, naming)),
                "failure" | "error" | "skipped" => {
                    mark(open.as_mut(), &tag);
                    (within, text) = (Within::Failure, String::new());
                }
                "system-out" | "system-err" => (within, text) = (Within::Output, String::new()),
                _ => {}
            },
            Ok(Event::Empty(tag)) => match tag.local_name().as_ref() {
                "testcase" => found.push(begin(&tag, naming)),
                "failure" | "error" | "skipped" => mark(open.as_mut(), &tag),
                _ => {}
            },
            Ok(Event::End(tag)) => match tag.local_name().as_ref() {
                "testcase" => found.extend(open.take()),
                "failure" | "error" | "skipped" | "system-out" | "system-err" => {
                    if let Some(test) = open.as_mut() {
                        add_text(test, within, text.trim_matches('\n'));
                    }
                    within = Within::Nothing;
                }
                _ => {}
            },
            Ok(Event::Text(piece)) if within != Within::Nothing => {
                text.push_str(&piece);
            }
            Ok(Event::GeneralRef(name)) if within != Within::Nothing => {
                let whole = format!("&{};", &*name);
                text.push_str(&quick_xml::escape::unescape(&whole).unwrap_or_default());
            }
            Ok(Event::CData(piece)) if within != Within::Nothing => {
                text.push_str(&piece);
            }
            Ok(Event::Eof) | Err(_) => break,
            Ok(_) => {}
        }
    }
    found
}

fn attribute(tag: &BytesStart<'_>, name: &str) -> Option<String> {
    let found = tag.try_get_attribute(name).ok()??;
    let value = quick_xml::escape::unescape(&found.value);
    Some(value.map_or_else(|_| found.value.to_string(), std::borrow::Cow::into_owned))
}

fn begin(tag: &BytesStart<'_>, naming: Naming) -> TestCase {
    let name = attribute(tag, "name").unwrap_or_default();
    let class = attribute(tag, "classname").filter(|class| !class.is_empty());
    let file = attribute(tag, "file").filter(|file| !file.is_empty());
    let id = match (naming, &class, &file) {
        (Naming::Pytest, Some(class), Some(file)) => {
            // What the class has beyond the module are classes.
            let module = file.trim_end_matches(".py").replace('/', ".");
            let inner = class.strip_prefix(&module).unwrap_or_default().trim_start_matches('.');
            let inner =
                if inner.is_empty() { String::new() } else { format!("{}::", inner.replace('.', "::")) };
            format!("{file}::{inner}{name}")
        }
        // A file that cannot be collected has its module as its name.
        (Naming::Pytest, None, _) => format!("{}.py", name.replace('.', "/")),
        (Naming::Dotted | Naming::Pytest, Some(class), _) => format!("{class}.{name}"),
        _ => name,
    };
    let status = match (attribute(tag, "status").as_deref(), attribute(tag, "result").as_deref()) {
        (Some("notrun" | "disabled"), _) | (_, Some("skipped" | "suppressed")) => TestStatus::Skipped,
        (Some("fail"), _) => TestStatus::Failed,
        _ => TestStatus::Passed,
    };
    let mut test = TestCase::new(id, status);
    test.group = class.filter(|_| naming == Naming::Nextest);
    test.file = file;
    test.line = attribute(tag, "line").and_then(|line| line.parse::<u32>().ok());
    if naming == Naming::Pytest {
        // pytest counts from zero.
        test.line = test.line.map(|line| line + 1);
    }
    test.duration_ms = attribute(tag, "time").and_then(|seconds| milliseconds(&seconds));
    test
}

fn mark(test: Option<&mut TestCase>, tag: &BytesStart<'_>) {
    let Some(test) = test else { return };
    test.status = match tag.local_name().as_ref() {
        "skipped" => TestStatus::Skipped,
        "error" => TestStatus::Error,
        _ => TestStatus::Failed,
    };
    if let Some(message) = attribute(tag, "message").filter(|_| test.message.is_empty()) {
        test.message = message;
    }
}

fn add_text(test: &mut TestCase, within: Within, text: &str) {
    if text.is_empty() || within == Within::Nothing || within == Within::Output && text.trim().is_empty() {
        return;
    }
    if test.status == TestStatus::Skipped && test.message.is_empty() {
        text.clone_into(&mut test.message);
        return;
    }
    if !test.output.is_empty() {
        test.output.push('\n');
    }
    test.output.push_str(text);
    // pytest says why in lines that begin with `E`.
    if test.message == "collection failure"
        && let Some(reason) = text.lines().find_map(|line| line.strip_prefix("E   "))
    {
        reason.clone_into(&mut test.message);
    }
}
