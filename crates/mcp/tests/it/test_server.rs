//! A server with tools, resources and prompts made for tests, on the server's own code. Their names and words are those
//! the official conformance suite asks for.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Map, Value, json};
use stepwell_mcp::{
    McpServer, Offer, PromptArgument, PromptEntry, Prompts, ServedWorkspace, ServerParts, WorkspaceChoice,
    WorkspaceSource,
};
use stepwell_protocol::{
    ClarificationKind, Event, Image, PermissionMode, Preview, Question, QuestionId, QuestionKind, Risk,
};
use stepwell_tool_runtime::{
    ArtifactWriter, Category, DynOutput, DynPlan, DynTool, Executor, ExecutorOptions, Hooks, HostError,
    JudgeOptions, JudgePlaces, Planned, Redactor, Registry, ResourceBody, ResourceEntry,
    ResourceTemplateEntry, Resources, RuleJudge, ToolContext, ToolError, ToolSpec, WorkspaceServices,
};
use stepwell_workspace::files::{self, Privacy};

/// One red pixel.
pub const PIXEL: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";

/// How many calls of `test_wait` run now.
pub static WAITING: AtomicUsize = AtomicUsize::new(0);

struct TestTool {
    name: &'static str,
    risk: Risk,
    category: Category,
}

struct Counted;

impl Drop for Counted {
    fn drop(&mut self) {
        WAITING.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Lets time pass; the tests wait for what is told meanwhile, never for the time itself.
async fn pause() {
    tokio::time::timeout(Duration::from_millis(120), std::future::pending::<()>()).await.ok();
}

fn text(text: impl Into<String>) -> DynOutput {
    let text = text.into();
    DynOutput { value: json!({"text": text}), text, ..DynOutput::default() }
}

#[async_trait]
impl DynTool for TestTool {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: self.name,
            aliases: &[],
            category: self.category,
            risk: self.risk,
            time_limit: Duration::from_secs(60),
            output_limit: 50 * 1024,
        }
    }

    fn description(&self) -> String {
        format!("A tool for tests: {}.", self.name)
    }

    fn input_schema(&self) -> Value {
        match self.name {
            "json_schema_2020_12_tool" => json!({
                "$schema": "https://json-schema.org/draft/2020-12/schema",
                "type": "object",
                "$defs": {"address": {"$anchor": "addressDef", "type": "object", "properties": {
                    "street": {"type": "string"}, "city": {"type": "string"}
                }}},
                "properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"}},
                "allOf": [{"anyOf": [{"required": ["name"]}, {"required": ["address"]}]}],
                "anyOf": [{"required": ["name"]}, {"required": ["address"]}],
                "if": {"required": ["address"]},
                "then": {"required": ["name"]},
                "else": {"required": []},
                "additionalProperties": false
            }),
            "test_custom_header" => json!({
                "type": "object",
                "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
                "required": ["region"]
            }),
            "test_elicitation" => json!({
                "type": "object", "properties": {"message": {"type": "string"}}, "required": ["message"]
            }),
            "test_reach" => json!({
                "type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]
            }),
            _ => json!({"type": "object", "properties": {}}),
        }
    }

    fn output_schema(&self) -> Option<Value> {
        Some(json!({
            "type": "object",
            "title": "Answer",
            "properties": {"text": {"type": "string", "description": "words"}},
            "required": ["text"]
        }))
    }

    async fn plan(&self, _ctx: &ToolContext, arguments: Value) -> Result<Planned<DynPlan>, ToolError> {
        let paths = arguments.get("path").and_then(Value::as_str).map(str::to_owned).into_iter().collect();
        let preview = Preview { summary: format!("Run {}", self.name), paths, ..Preview::default() };
        Ok(Planned::ready(preview, DynPlan::new(arguments)))
    }

    async fn run(&self, ctx: &ToolContext, plan: DynPlan) -> Result<DynOutput, ToolError> {
        let arguments: Value = plan.take()?;
        let show = |line: &str| {
            ctx.host.show(Event::ToolProgress { call_id: ctx.call_id.clone(), text: line.to_owned() });
        };
        match self.name {
            "test_simple_text" => Ok(text("This is a simple text response for testing.")),
            "test_structured" => {
                let value = json!({"text": "two\nlines"});
                Ok(DynOutput {
                    text: serde_json::to_string_pretty(&value).unwrap(),
                    value,
                    ..DynOutput::default()
                })
            }
            "test_large" => {
                let value = json!({"text": "x".repeat(400 * 1024)});
                Ok(DynOutput { text: value.to_string(), value, ..DynOutput::default() })
            }
            "test_image_content" | "test_multiple_content_types" => {
                let image = Image { media_type: "image/png".to_owned(), data: PIXEL.to_owned() };
                Ok(DynOutput { images: vec![image], ..text("Multiple content types test:") })
            }
            "test_error_handling" => {
                Err(ToolError::execution("This tool intentionally returns an error for testing"))
            }
            "test_tool_with_progress" => {
                for line in ["0 of 100", "50 of 100", "100 of 100"] {
                    show(line);
                    pause().await;
                }
                Ok(text("done"))
            }
            "test_tool_with_logging" | "test_logging_tool" => {
                for line in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
                    ctx.host.record(Event::Notice { text: line.to_owned() }).await.unwrap();
                    pause().await;
                }
                Ok(text("done"))
            }
            "test_elicitation" => {
                let message = arguments.get("message").and_then(Value::as_str).unwrap_or_default();
                let answer = ctx.host.ask(question(message)).await;
                Ok(text(format!("User response: {answer:?}")))
            }
            "test_streaming_elicitation"
            | "test_input_required_result_request_state"
            | "test_input_required_result_tampered_state"
            | "test_input_required_result_elicitation" => {
                ctx.host.ask(question("What is your name?")).await;
                Ok(text("state-ok"))
            }
            "test_two_questions" | "test_input_required_result_multi_round" => {
                let first = ctx.host.ask(question("First?")).await;
                let second = ctx.host.ask(question("Second?")).await;
                let word = |text: Option<String>| text.unwrap_or_else(|| "nothing".to_owned());
                Ok(text(format!("{} and {}", word(first.text), word(second.text))))
            }
            "test_wait" => {
                WAITING.fetch_add(1, Ordering::SeqCst);
                let _counted = Counted;
                show("waiting");
                ctx.cancel.cancelled().await;
                Err(ToolError::interrupted("the call was cancelled"))
            }
            _ => Ok(text("done")),
        }
    }
}

fn question(message: &str) -> Question {
    Question {
        id: QuestionId::generate(),
        kind: QuestionKind::Clarification(ClarificationKind::Custom),
        text: message.to_owned(),
        context: None,
        options: Vec::new(),
        allow_custom: true,
        default_option: None,
        timeout_seconds: None,
        from: None,
    }
}

const TOOLS: &[(&str, Risk, Category)] = &[
    ("test_simple_text", Risk::Read, Category::Files),
    ("test_structured", Risk::Read, Category::Debug),
    ("test_large", Risk::Read, Category::Debug),
    ("test_image_content", Risk::Read, Category::Files),
    ("test_multiple_content_types", Risk::Read, Category::Files),
    ("test_error_handling", Risk::Read, Category::Debug),
    ("test_tool_with_progress", Risk::Read, Category::Debug),
    ("test_tool_with_logging", Risk::Read, Category::Debug),
    ("test_elicitation", Risk::Read, Category::Debug),
    ("test_two_questions", Risk::Read, Category::Debug),
    ("test_wait", Risk::Execute, Category::Debug),
    ("test_reach", Risk::Write, Category::Files),
    ("test_hidden", Risk::Execute, Category::Shell),
    ("test_input_required_result_elicitation", Risk::Read, Category::Debug),
    ("test_input_required_result_multi_round", Risk::Read, Category::Debug),
    ("test_input_required_result_request_state", Risk::Read, Category::Debug),
    ("test_input_required_result_tampered_state", Risk::Read, Category::Debug),
    ("test_logging_tool", Risk::Read, Category::Debug),
    ("test_streaming_elicitation", Risk::Read, Category::Debug),
    ("test_custom_header", Risk::Read, Category::Files),
    ("json_schema_2020_12_tool", Risk::Read, Category::Debug),
];

struct TestWorkspaces;

struct NoArtifacts;

#[async_trait]
impl ArtifactWriter for NoArtifacts {
    async fn write(&self, path: &Path, content: &[u8]) -> Result<(), HostError> {
        files::write_atomic(path, content, Privacy::Private).map_err(|error| HostError(error.to_string()))
    }
}

impl WorkspaceSource for TestWorkspaces {
    fn open(&self, workspace: Option<&Path>) -> Result<ServedWorkspace, String> {
        let registry = Arc::new(Registry::new());
        for (name, risk, category) in TOOLS {
            let tool = TestTool { name, risk: *risk, category: *category };
            registry.register(Arc::new(tool)).map_err(|error| error.to_string())?;
        }
        let root = workspace.map_or_else(|| PathBuf::from("/ws"), Path::to_path_buf);
        let executor = Executor::new(registry, ExecutorOptions::standard(Arc::new(NoArtifacts)));
        let services = WorkspaceServices {
            resources: Arc::new(TestResources),
            ..WorkspaceServices::new(root.clone(), Arc::new(executor), Arc::new(Redactor::new()))
        };
        Ok(ServedWorkspace {
            services: Arc::new(services),
            permission: Arc::new(RuleJudge::new(JudgeOptions {
                asked_for: vec![Category::Debug, Category::Files],
                places: JudgePlaces { roots: vec![root.display().to_string()], ..JudgePlaces::default() },
                ..JudgeOptions::default()
            })),
            hooks: Arc::new(Hooks::none()),
            permission_mode: PermissionMode::Default,
        })
    }
}

struct TestResources;

#[async_trait]
impl Resources for TestResources {
    async fn list(&self) -> Vec<ResourceEntry> {
        let entry = |uri: &str, mime: &str| ResourceEntry {
            uri: uri.to_owned(),
            name: uri.to_owned(),
            description: Some("A resource for tests".to_owned()),
            mime_type: Some(mime.to_owned()),
        };
        vec![entry("test://static-text", "text/plain"), entry("test://static-binary", "image/png")]
    }

    async fn templates(&self) -> Vec<ResourceTemplateEntry> {
        vec![ResourceTemplateEntry {
            uri_template: "test://template/{id}/data".to_owned(),
            name: "data".to_owned(),
            description: Some("Data by id".to_owned()),
            mime_type: Some("application/json".to_owned()),
        }]
    }

    async fn read(&self, uri: &str) -> Result<Option<ResourceBody>, String> {
        let by_id = uri.strip_prefix("test://template/").and_then(|rest| rest.strip_suffix("/data"));
        Ok(match (uri, by_id) {
            ("test://static-text", _) => Some(ResourceBody::Text {
                text: "This is the content of the static text resource.".to_owned(),
                mime_type: Some("text/plain".to_owned()),
            }),
            ("test://static-binary", _) => Some(ResourceBody::Binary {
                base64: PIXEL.to_owned(),
                mime_type: Some("image/png".to_owned()),
            }),
            (_, Some(id)) => Some(ResourceBody::Text {
                text: json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")})
                    .to_string(),
                mime_type: Some("application/json".to_owned()),
            }),
            _ => None,
        })
    }
}

struct TestPrompts;

impl Prompts for TestPrompts {
    fn list(&self) -> Vec<PromptEntry> {
        let argument = |name: &str| PromptArgument {
            name: name.to_owned(),
            description: "An argument for tests".to_owned(),
            required: true,
        };
        let entry = |name: &str, arguments: Vec<PromptArgument>| PromptEntry {
            name: name.to_owned(),
            title: name.to_owned(),
            description: "A prompt for tests".to_owned(),
            arguments,
        };
        vec![
            entry("test_simple_prompt", Vec::new()),
            entry("test_prompt_with_arguments", vec![argument("arg1"), argument("arg2")]),
        ]
    }

    fn get(&self, name: &str, arguments: &Map<String, Value>) -> Result<Option<String>, String> {
        let given = |name: &str| {
            arguments.get(name).and_then(Value::as_str).ok_or_else(|| format!("`{name}` is missing"))
        };
        Ok(match name {
            "test_simple_prompt" => Some("This is a simple prompt for testing.".to_owned()),
            "test_prompt_with_arguments" => {
                Some(format!("Prompt with arguments: arg1='{}', arg2='{}'", given("arg1")?, given("arg2")?))
            }
            _ => None,
        })
    }
}

/// A server with all of it but the group `shell`.
pub fn server() -> McpServer {
    server_with(WorkspaceChoice::Fixed)
}

pub fn server_with(workspace: WorkspaceChoice) -> McpServer {
    let artifacts = std::env::temp_dir().join(format!("stepwell-mcp-test-{}", std::process::id()));
    McpServer::new(ServerParts {
        workspaces: Arc::new(TestWorkspaces),
        prompts: Arc::new(TestPrompts),
        offer: Offer { categories: vec![Category::Debug, Category::Files], read_only: false },
        workspace,
        instructions: "A server for tests.".to_owned(),
        version: "0.0.0".to_owned(),
        artifacts,
    })
}
