//! Tools that name their server in an argument, as Roo Code has them.

use std::borrow::Cow;
use std::sync::{Arc, Weak};
use std::time::Duration;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use stepwell_protocol::{Image, Preview, Risk, ToolCall};
use stepwell_tool_runtime::{Category, DynTool, Planned, Tool, ToolContext, ToolError, ToolOutput, ToolSpec};

use super::servers::Servers;
use super::supervisor::Supervisor;
use super::tool::{reader_name, tool_name};

const OUTPUT_LIMIT: usize = 50 * 1024;

/// The tools that speak to any server of a workspace.
pub fn bridge_tools(servers: &Arc<Servers>) -> Vec<Arc<dyn DynTool>> {
    let servers = Arc::downgrade(servers);
    vec![Arc::new(UseMcpTool { servers: Weak::clone(&servers) }), Arc::new(AccessMcpResource { servers })]
}

/// Calls a tool of an MCP server by the names of both. Use it for a server that is still connecting; tools that are
/// ready are called directly as `mcp__server__tool`.
#[derive(Clone, Deserialize, JsonSchema)]
struct UseMcpToolInput {
    /// The name of the server.
    server_name: String,
    /// The name of its tool.
    tool_name: String,
    /// The tool's arguments.
    #[serde(default)]
    arguments: Map<String, Value>,
}

struct UseMcpTool {
    servers: Weak<Servers>,
}

/// What the called tool gave back.
#[derive(Serialize, JsonSchema)]
struct BridgeOutput {
    output: Value,
    #[serde(skip)]
    text: String,
    #[serde(skip)]
    images: Vec<Image>,
}

impl ToolOutput for BridgeOutput {
    fn for_model(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.text)
    }

    fn images(&self) -> Vec<Image> {
        self.images.clone()
    }
}

fn spec(name: &'static str) -> ToolSpec {
    ToolSpec {
        name,
        aliases: &[],
        category: Category::External,
        // It does nothing by itself; the call it makes is judged by its own risk.
        risk: Risk::Control,
        time_limit: Duration::MAX,
        output_limit: OUTPUT_LIMIT,
    }
}

#[async_trait]
impl Tool for UseMcpTool {
    type Input = UseMcpToolInput;
    type Plan = UseMcpToolInput;
    type Output = BridgeOutput;

    fn spec(&self) -> ToolSpec {
        spec("use_mcp_tool")
    }

    async fn plan(&self, _: &ToolContext, input: Self::Input) -> Planned<Self::Plan> {
        let summary = format!("Call `{}` of the MCP server `{}`", input.tool_name, input.server_name);
        Planned::ready(Preview { summary, ..Preview::default() }, input)
    }

    async fn run(&self, ctx: &ToolContext, input: Self::Plan) -> Result<Self::Output, ToolError> {
        let server = ready_server(&self.servers, &input.server_name, ctx).await?;
        let name = tool_name(&server.config.name, &input.tool_name);
        if ctx.invoker.find(&name).is_none() {
            let known = server.tool_names().join(", ");
            return Err(ToolError::validation(format!(
                "the MCP server `{}` has no tool `{}`; it has: {known}",
                server.config.name, input.tool_name
            )));
        }
        invoke(ctx, name, Value::Object(input.arguments)).await
    }
}

/// Reads a resource of an MCP server. Without `uri` it lists the server's resources.
#[derive(Clone, Deserialize, JsonSchema)]
struct AccessMcpResourceInput {
    /// The name of the server.
    server_name: String,
    /// The address of the resource, as the server lists it.
    #[serde(default)]
    uri: Option<String>,
}

struct AccessMcpResource {
    servers: Weak<Servers>,
}

#[async_trait]
impl Tool for AccessMcpResource {
    type Input = AccessMcpResourceInput;
    type Plan = AccessMcpResourceInput;
    type Output = BridgeOutput;

    fn spec(&self) -> ToolSpec {
        spec("access_mcp_resource")
    }

    async fn plan(&self, _: &ToolContext, input: Self::Input) -> Planned<Self::Plan> {
        let summary = match &input.uri {
            Some(uri) => format!("Read `{uri}` from the MCP server `{}`", input.server_name),
            None => format!("List the resources of the MCP server `{}`", input.server_name),
        };
        Planned::ready(Preview { summary, ..Preview::default() }, input)
    }

    async fn run(&self, ctx: &ToolContext, input: Self::Plan) -> Result<Self::Output, ToolError> {
        let server = ready_server(&self.servers, &input.server_name, ctx).await?;
        let name = reader_name(&server.config.name);
        if ctx.invoker.find(&name).is_none() {
            let told = format!("the MCP server `{}` has no resources", server.config.name);
            return Err(ToolError::validation(told));
        }
        let arguments = input.uri.map_or_else(|| json!({}), |uri| json!({"uri": uri}));
        invoke(ctx, name, arguments).await
    }
}

async fn ready_server(
    servers: &Weak<Servers>,
    name: &str,
    ctx: &ToolContext,
) -> Result<Arc<Supervisor>, ToolError> {
    let servers = servers.upgrade().ok_or_else(|| ToolError::execution("the MCP servers were stopped"))?;
    let server = servers.find(name).ok_or_else(|| {
        let known = servers.names().join(", ");
        ToolError::validation(format!("there is no MCP server `{name}`; there are: {known}"))
    })?;
    tokio::select! {
        ready = server.ready() => ready.map_err(ToolError::execution)?,
        () = ctx.cancel.cancelled() => return Err(ToolError::interrupted("the call was cancelled before it ran")),
    };
    Ok(server)
}

/// Makes the call that rules and the person decide about.
async fn invoke(ctx: &ToolContext, name: String, arguments: Value) -> Result<BridgeOutput, ToolError> {
    let call = ToolCall { id: ctx.call_id.clone(), name, arguments, opaque: None };
    let outcome = ctx.invoker.invoke(&call).await;
    match outcome.result.error {
        Some(error) => Err(ToolError::new(error.class, outcome.result.output)),
        None => Ok(BridgeOutput {
            output: outcome.output.unwrap_or_default(),
            text: outcome.result.output,
            images: outcome.result.images,
        }),
    }
}
