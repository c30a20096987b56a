//! The agents that are measured, and how each is started without a person.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::server::ShellTool;

pub struct Agent {
    pub name: &'static str,
    pub is_ours: bool,
    pub tool: ShellTool,
    /// Program and fixed first arguments.
    program: Vec<PathBuf>,
    arguments: Vec<&'static str>,
    environment: Vec<(&'static str, &'static str)>,
    /// Settings written into the home; `PORT` stands for the server's port.
    settings: Option<(&'static str, &'static str)>,
}

const PROMPT: &str = "Please carry out the task described in TASK.md step by step.";

pub fn ours(binary: &Path) -> Agent {
    Agent {
        name: "stepwell",
        is_ours: true,
        tool: ShellTool { name: "bash", argument: "command" },
        program: vec![binary.to_path_buf()],
        arguments: vec![
            "run",
            "--model",
            "mock/mock-model",
            "--permission-mode",
            "bypassPermissions",
            PROMPT,
        ],
        environment: vec![("MOCK_KEY", "x")],
        settings: Some((
            ".config/stepwell/config.toml",
            "[providers.mock]\nkind = \"openai-chat\"\nbase_url = \"http://127.0.0.1:PORT/v1\"\napi_key_env = \"MOCK_KEY\"\n",
        )),
    }
}

/// Ours as the rivals are run: without a sandbox around commands.
pub fn ours_unconfined(binary: &Path) -> Agent {
    Agent {
        name: "unconfined",
        settings: Some((
            ".config/stepwell/config.toml",
            "[sandbox]\nenabled = false\n[providers.mock]\nkind = \"openai-chat\"\nbase_url = \"http://127.0.0.1:PORT/v1\"\napi_key_env = \"MOCK_KEY\"\n",
        )),
        ..ours(binary)
    }
}

/// The rivals that are installed below `$STEPWELL_PEERS`.
pub fn peers() -> Vec<Agent> {
    let Some(folder) = std::env::var_os("STEPWELL_PEERS").map(PathBuf::from) else { return Vec::new() };
    let codex =
        folder.join("codex/node_modules/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex");
    let goose = folder.join("goose/node_modules/@aaif/goose-binary-linux-x64/bin/goose");
    let node = folder.join("node22/node_modules/node/bin/node");
    let pi = folder.join("pi/node_modules/.bin/pi");
    let all = vec![
        Agent {
            name: "codex",
            is_ours: false,
            tool: ShellTool { name: "exec_command", argument: "cmd" },
            program: vec![codex],
            arguments: vec![
                "exec",
                "--skip-git-repo-check",
                "--dangerously-bypass-approvals-and-sandbox",
                PROMPT,
            ],
            environment: vec![("MOCK_KEY", "x")],
            settings: Some((
                ".codex/config.toml",
                "model = \"gpt-5.5\"\nmodel_provider = \"mock\"\ncheck_for_update_on_startup = false\n[model_providers.mock]\nname = \"mock\"\nbase_url = \"http://127.0.0.1:PORT/v1\"\nwire_api = \"responses\"\nenv_key = \"MOCK_KEY\"\n[analytics]\nenabled = false\n",
            )),
        },
        Agent {
            name: "goose",
            is_ours: false,
            tool: ShellTool { name: "shell", argument: "command" },
            program: vec![goose],
            arguments: vec!["run", "-t", PROMPT],
            environment: vec![
                ("GOOSE_PROVIDER", "openai"),
                ("GOOSE_MODEL", "gpt-4.1"),
                ("OPENAI_HOST", "http://127.0.0.1:PORT"),
                ("OPENAI_API_KEY", "x"),
                ("GOOSE_MODE", "auto"),
                ("GOOSE_DISABLE_KEYRING", "1"),
                ("GOOSE_TELEMETRY_ENABLED", "false"),
            ],
            settings: None,
        },
        Agent {
            name: "pi",
            is_ours: false,
            tool: ShellTool { name: "bash", argument: "command" },
            program: vec![node, pi],
            arguments: vec!["--provider", "mock", "--model", "mock-model", "-p", PROMPT],
            environment: vec![("PI_OFFLINE", "1"), ("PI_TELEMETRY", "0")],
            settings: Some((
                ".pi/agent/models.json",
                "{\"providers\":{\"mock\":{\"baseUrl\":\"http://127.0.0.1:PORT/v1\",\"api\":\"openai-completions\",\"apiKey\":\"x\",\"models\":[{\"id\":\"mock-model\",\"contextWindow\":400000,\"maxTokens\":32000}]}}}",
            )),
        },
    ];
    all.into_iter().filter(|agent| agent.program.iter().all(|path| path.exists())).collect()
}

impl Agent {
    /// The headless run of one prompt, in a home of its own.
    pub fn command(&self, folder: &Path, port: u16) -> anyhow::Result<Command> {
        let with_port = |text: &str| text.replace("PORT", &port.to_string());
        if let Some((path, text)) = self.settings {
            let path = folder.join(path);
            if let Some(parent) = path.parent() {
                std::fs::create_dir_all(parent)?;
            }
            std::fs::write(path, with_port(text))?;
        }
        let mut command = self.in_home(folder)?;
        command.args(&self.arguments);
        for (name, value) in &self.environment {
            command.env(name, if name.ends_with("HOST") { with_port(value) } else { (*value).to_owned() });
        }
        Ok(command)
    }

    /// The program with one flag, such as `--version`.
    pub fn plain(&self, folder: &Path, flag: &str) -> anyhow::Result<Command> {
        let mut command = self.in_home(folder)?;
        command.arg(flag);
        Ok(command)
    }

    fn in_home(&self, folder: &Path) -> anyhow::Result<Command> {
        let work = folder.join("work");
        std::fs::create_dir_all(&work)?;
        std::fs::write(work.join("TASK.md"), "# Task\nDo the steps.\n")?;
        let mut command = Command::new(&self.program[0]);
        command
            .args(&self.program[1..])
            .current_dir(work)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", folder)
            .env("TERM", "dumb")
            .env("NO_COLOR", "1")
            .env("LANG", "C.UTF-8");
        Ok(command)
    }
}
