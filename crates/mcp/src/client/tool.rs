//! A server's tool as a tool of the agent: its name, its risk, its call.

use std::sync::{Arc, Weak};
use std::time::Duration;

use async_trait::async_trait;
use rmcp::model::Tool;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use stepwell_net::host_and_port;
use stepwell_protocol::{Preview, Risk};
use stepwell_tool_runtime::{
    Category, DynOutput, DynPlan, DynTool, Planned, ToolContext, ToolError, ToolSpec,
};

use super::config::{Origin, ServerConfig, Transport};
use super::content;
use super::supervisor::Supervisor;

/// Longest name of a tool that providers accept.
const LONGEST_NAME: usize = 64;
/// Characters of a description that the model is given.
const LONGEST_DESCRIPTION: usize = 4_000;
/// Bytes of a tool's schema; one that is larger costs more than the tool can be worth.
const LARGEST_SCHEMA: usize = 64 * 1024;
/// Bytes of text the model is given of one result.
const OUTPUT_LIMIT: usize = 50 * 1024;
/// A call ends at the server's own limit of silence; this bounds one that reports progress for ever.
const LONGEST_CALL: Duration = Duration::from_hours(2);
/// Characters of the arguments that a person is shown in one line.
const SHOWN_ARGUMENTS: usize = 300;

/// The name under which a server's tool is offered: `mcp__server__tool`, as other agents have it.
pub fn tool_name(server: &str, tool: &str) -> String {
    shortened(format!("{}__{}", server_prefix(server), clean(tool)))
}

/// What the names of a server's tools begin with, and what a rule about the whole server names.
pub fn server_prefix(server: &str) -> String {
    format!("mcp__{}", clean(server))
}

/// A name in the characters that tool names may have.
pub(crate) fn clean(name: &str) -> String {
    let allowed = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
    name.chars().map(|letter| if allowed(letter) { letter } else { '_' }).collect()
}

/// Cuts a name that is too long and keeps it unlike others that begin the same.
fn shortened(name: String) -> String {
    if name.len() <= LONGEST_NAME {
        return name;
    }
    format!("{}_{}", &name[..LONGEST_NAME - 9], short_hash(&name))
}

/// Eight digits that differ for other texts.
pub(crate) fn short_hash(text: &str) -> String {
    let digest: [u8; 32] = Sha256::digest(text.as_bytes()).into();
    let [first, second, third, fourth, ..] = digest;
    format!("{:08x}", u32::from_be_bytes([first, second, third, fourth]))
}

/// One tool of a server.
pub(crate) struct McpTool {
    server: Weak<Supervisor>,
    name: String,
    facts: ServerFacts,
    risk: Risk,
    tool: Tool,
}

/// What is shown of a server, and what its calls risk.
struct ServerFacts {
    name: String,
    /// The host of an HTTP server, for rules about hosts.
    host: Option<String>,
    call_limit: Duration,
    risk: Risk,
    is_users_own: bool,
}

impl ServerFacts {
    fn of(config: &ServerConfig) -> Self {
        let host = match &config.transport {
            Transport::Stdio(_) => None,
            Transport::Http(http) | Transport::Sse(http) => Some(host_and_port(&http.url)),
        };
        Self {
            name: config.name.clone(),
            risk: if host.is_some() { Risk::Network } else { Risk::Execute },
            host,
            call_limit: config.call_limit,
            is_users_own: config.origin == Origin::User,
        }
    }

    fn preview(&self, summary: String) -> Preview {
        Preview { summary, hosts: self.host.clone().into_iter().collect(), ..Preview::default() }
    }

    /// What a call that only reads risks. The word of a project's server for it is not enough.
    fn reading_risk(&self) -> Risk {
        if self.is_users_own { Risk::Read } else { self.risk }
    }
}

impl McpTool {
    /// A tool whose schema can be used.
    pub fn new(server: Weak<Supervisor>, config: &ServerConfig, mut tool: Tool) -> Option<Self> {
        let size = Value::Object(tool.input_schema.as_ref().clone()).to_string().len();
        if size > LARGEST_SCHEMA {
            tracing::warn!(server = config.name, tool = %tool.name, size, "schema too large; the tool is left out");
            return None;
        }
        if let Some(description) = &tool.description
            && let Some((end, _)) = description.char_indices().nth(LONGEST_DESCRIPTION)
        {
            tool.description = Some(format!("{}…", &description[..end]).into());
        }
        let facts = ServerFacts::of(config);
        let only_reads = tool.annotations.as_ref().and_then(|notes| notes.read_only_hint) == Some(true);
        let risk = if only_reads { facts.reading_risk() } else { facts.risk };
        Some(Self { server, name: tool_name(&config.name, &tool.name), facts, risk, tool })
    }

    /// The name that the server gave it.
    pub fn server_name(&self) -> &str {
        &self.tool.name
    }

    /// Whether this is the same tool as one that was listed again.
    pub fn is(&self, tool: &Tool) -> bool {
        self.tool == *tool
    }
}

#[async_trait]
impl DynTool for McpTool {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "mcp_tool",
            aliases: &[],
            category: Category::External,
            risk: self.risk,
            time_limit: LONGEST_CALL,
            output_limit: OUTPUT_LIMIT,
        }
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn description(&self) -> String {
        let title = self.tool.title.as_deref().unwrap_or(&self.tool.name);
        self.tool.description.as_deref().map_or_else(|| title.to_owned(), str::to_owned)
    }

    fn input_schema(&self) -> Value {
        let mut schema = self.tool.input_schema.as_ref().clone();
        schema.insert("type".to_owned(), "object".into());
        let has_properties =
            schema.get("properties").and_then(Value::as_object).is_some_and(|all| !all.is_empty());
        if !has_properties {
            schema.entry("properties").or_insert_with(|| json!({}));
            // A schema that names nothing takes anything; arguments it does not name would be dropped otherwise.
            schema.entry("additionalProperties").or_insert(Value::Bool(true));
        }
        schema.shift_remove("$schema");
        Value::Object(schema)
    }

    fn output_schema(&self) -> Option<Value> {
        self.tool.output_schema.as_ref().map(|schema| Value::Object(schema.as_ref().clone()))
    }

    async fn plan(&self, _: &ToolContext, arguments: Value) -> Result<Planned<DynPlan>, ToolError> {
        let Value::Object(arguments) = arguments else {
            return Err(ToolError::parameter("the arguments must be an object"));
        };
        let shown: String =
            Value::Object(arguments.clone()).to_string().chars().take(SHOWN_ARGUMENTS).collect();
        let summary =
            format!("Call `{}` of the MCP server `{}` with {shown}", self.tool.name, self.facts.name);
        Ok(Planned::ready(self.facts.preview(summary), DynPlan::new(arguments)))
    }

    async fn run(&self, ctx: &ToolContext, plan: DynPlan) -> Result<DynOutput, ToolError> {
        let arguments: Map<String, Value> = plan.take()?;
        let connection = connection(&self.server, ctx).await?;
        let result = connection.call(ctx, &self.tool.name, arguments, self.facts.call_limit).await?;
        content::call_output(result)
    }
}

async fn connection(
    server: &Weak<Supervisor>,
    ctx: &ToolContext,
) -> Result<Arc<super::connection::Connection>, ToolError> {
    let server = server.upgrade().ok_or_else(|| ToolError::execution("the MCP server was stopped"))?;
    tokio::select! {
        ready = server.ready() => ready.map_err(ToolError::execution),
        () = ctx.cancel.cancelled() => Err(ToolError::interrupted("the call was cancelled before it ran")),
    }
}

/// Reads a server's resources. It is no tool of the model's: `access_mcp_resource` calls it, so that rules about the
/// server hold for its resources too.
pub(crate) struct ResourceReader {
    server: Weak<Supervisor>,
    name: String,
    facts: ServerFacts,
}

impl ResourceReader {
    pub fn new(server: Weak<Supervisor>, config: &ServerConfig) -> Self {
        Self { server, name: reader_name(&config.name), facts: ServerFacts::of(config) }
    }
}

/// The name of a server's resource reader.
pub(crate) fn reader_name(server: &str) -> String {
    tool_name(server, "resources--read")
}

#[async_trait]
impl DynTool for ResourceReader {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "mcp_resource",
            aliases: &[],
            category: Category::External,
            risk: self.facts.reading_risk(),
            time_limit: LONGEST_CALL,
            output_limit: OUTPUT_LIMIT,
        }
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn description(&self) -> String {
        format!("Reads a resource of the MCP server `{}`.", self.facts.name)
    }

    fn input_schema(&self) -> Value {
        json!({"type": "object", "properties": {"uri": {"type": "string"}}})
    }

    fn output_schema(&self) -> Option<Value> {
        None
    }

    fn is_internal(&self) -> bool {
        true
    }

    async fn plan(&self, _: &ToolContext, arguments: Value) -> Result<Planned<DynPlan>, ToolError> {
        let uri = arguments["uri"].as_str().map(str::to_owned);
        let summary = match &uri {
            Some(uri) => format!("Read `{uri}` from the MCP server `{}`", self.facts.name),
            None => format!("List the resources of the MCP server `{}`", self.facts.name),
        };
        Ok(Planned::ready(self.facts.preview(summary), DynPlan::new(uri)))
    }

    async fn run(&self, ctx: &ToolContext, plan: DynPlan) -> Result<DynOutput, ToolError> {
        let uri: Option<String> = plan.take()?;
        let connection = connection(&self.server, ctx).await?;
        let reading = async {
            match uri {
                Some(uri) => connection.read_resource(&uri).await.map(content::resource_output),
                None => connection.resources().await.map(|found| content::resource_list(&found)),
            }
        };
        tokio::select! {
            read = reading => read.map_err(ToolError::execution),
            () = ctx.cancel.cancelled() => Err(ToolError::interrupted("reading was cancelled")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_other_agents_and_fit_providers() {
        assert_eq!(tool_name("time", "get_current_time"), "mcp__time__get_current_time");
        assert_eq!(tool_name("my server", "a.b/c"), "mcp__my_server__a_b_c");
        let long = tool_name("server", &"x".repeat(100));
        assert_eq!(long.len(), 64);
        assert_ne!(long, tool_name("server", &"x".repeat(101)), "long names stay apart");
    }
}
