//! `fetch_instructions`: how to make a mode, an MCP server, a skill or a command, when somebody asks for one.

use std::borrow::Cow;
use std::time::Duration;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stepwell_protocol::{Preview, Risk};
use stepwell_tool_runtime::{Category, Planned, Tool, ToolContext, ToolError, ToolOutput, ToolSpec};

pub struct FetchInstructions;

/// Tells how a mode, an MCP server, a skill or a command is made here.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct FetchInstructionsInput {
    task: InstructionTask,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
pub enum InstructionTask {
    #[serde(rename = "create_mode")]
    Mode,
    #[serde(rename = "create_mcp_server")]
    McpServer,
    #[serde(rename = "create_skill")]
    Skill,
    #[serde(rename = "create_command")]
    Command,
}

impl InstructionTask {
    fn text(self) -> &'static str {
        match self {
            Self::Mode => MODE,
            Self::McpServer => MCP_SERVER,
            Self::Skill => SKILL,
            Self::Command => COMMAND,
        }
    }
}

const MODE: &str = r#"A mode is an entry of `.roomodes` in the project (YAML), or of `custom_modes.yaml` in the user's settings:

customModes:
  - slug: docs            # letters, digits, hyphens; unique
    name: Writer
    roleDefinition: You write documentation for people in a hurry.
    whenToUse: For READMEs, guides and comments.
    customInstructions: Keep sentences short.
    groups:
      - read
      - - edit
        - fileRegex: \.md$
          description: Markdown files

Groups: read, edit, command, debug, browser, mcp. `edit` may be limited by a regular expression on paths. Instructions of
their own can stand in `.roo/rules-SLUG/`. Files of a project count once the user has run `stepwell config trust`. Check
with `stepwell modes show SLUG`.
"#;

const MCP_SERVER: &str = r#"An MCP server is a program that offers tools over standard input and output, or an address.

1. Write it with an official SDK (TypeScript `@modelcontextprotocol/sdk`, Python `mcp`, Rust `rmcp`); log to standard error only.
2. Add it: `.mcp.json` in the project, or `stepwell mcp add NAME -- COMMAND ARGS` for the user:
   {"mcpServers": {"weather": {"command": "node", "args": ["build/index.js"], "env": {"KEY": "${WEATHER_KEY}"}}}}
   or {"mcpServers": {"remote": {"type": "http", "url": "https://example.org/mcp"}}}
3. Keys come from variables, never from the file.
4. Try it: `stepwell mcp test NAME`. Its tools are then called `mcp__NAME__TOOL`. A server of a project starts once the user
   trusts the folder.
"#;

const SKILL: &str = r#"A skill is a folder `.stepwell/skills/NAME/` with a `SKILL.md`:

---
name: NAME                # small letters, digits, hyphens; the name of the folder
description: What it does, and when to use it. The reader decides by this alone.
metadata:
  triggers: words, that bring it
---
Instructions, under 500 lines. Put details into `references/`, programs into `scripts/`, and name them here.

Check with `stepwell skills validate .stepwell/skills/NAME`.
"#;

const COMMAND: &str = r#"A command is a file `.stepwell/commands/NAME.md` that the user runs as `/NAME arguments`:

---
description: Review a pull request
argument-hint: [number]
---
Review pull request $1. Other words: $ARGUMENTS. Changes: !`git diff main`. Rules: @docs/review.md

A sub-folder is a namespace: `git/fix.md` is `/git:fix`. Check with `stepwell commands show NAME`.
"#;

#[derive(Debug, Serialize, JsonSchema)]
pub struct FetchInstructionsOutput {
    task: InstructionTask,
    instructions: String,
}

impl ToolOutput for FetchInstructionsOutput {
    fn for_model(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.instructions)
    }
}

#[async_trait]
impl Tool for FetchInstructions {
    type Input = FetchInstructionsInput;
    type Plan = InstructionTask;
    type Output = FetchInstructionsOutput;

    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "fetch_instructions",
            aliases: &[],
            category: Category::Composition,
            risk: Risk::Control,
            time_limit: Duration::from_secs(5),
            output_limit: 16 * 1024,
        }
    }

    async fn plan(&self, _: &ToolContext, input: Self::Input) -> Planned<Self::Plan> {
        Planned::ready(Preview { summary: "Read how it is made".into(), ..Preview::default() }, input.task)
    }

    async fn run(&self, _: &ToolContext, task: Self::Plan) -> Result<Self::Output, ToolError> {
        Ok(FetchInstructionsOutput { task, instructions: task.text().to_owned() })
    }
}
