//! The way of a running tool to other machines: each host is judged like a call of its own.

use std::collections::HashMap;

use async_trait::async_trait;
use serde_json::json;
use stepwell_protocol::{Preview, Risk, ToolCall};
use tokio::sync::Mutex;

use super::CallEnv;
use super::permit::{Answered, ask};
use crate::permission::{CallFacts, Verdict, add_warnings};
use crate::{Category, NetworkGate};

/// The longest name DNS knows.
const LONGEST_HOST: usize = 253;
/// Hosts of one call whose answer is remembered.
const MOST_HOSTS: usize = 1000;

/// The gate of one call.
pub(super) struct CallNetwork {
    env: CallEnv,
    call: ToolCall,
    /// What was answered for this call. The lock also keeps one question from being asked twice at a time.
    answers: Mutex<HashMap<String, Result<(), String>>>,
}

impl CallNetwork {
    pub(super) fn new(env: CallEnv, call: ToolCall) -> Self {
        Self { env, call, answers: Mutex::default() }
    }

    async fn decide(&self, host: &str, port: u16) -> Result<(), String> {
        let target = if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") };
        let mut preview = Preview {
            summary: format!("Connect to {target} for `{}`", self.call.name),
            hosts: vec![target.clone()],
            ..Preview::default()
        };
        add_warnings(&mut preview);
        let facts = CallFacts {
            task: self.env.task.clone(),
            tool: "network".to_owned(),
            aliases: &[],
            category: Category::External,
            risk: Risk::Network,
            arguments: json!({"host": host, "port": port}),
            preview,
            command: None,
        };
        match self.env.permission.judge(&facts).await {
            Verdict::Allow => Ok(()),
            Verdict::Deny { reason } => Err(format!("connecting to {target} is not allowed: {reason}")),
            Verdict::Ask { reason } => match ask(&self.env, &facts, &self.call, reason).await {
                Answered::Yes(_) => Ok(()),
                Answered::No { words, .. } => Err(format!("connecting to {target}: {words}")),
                Answered::Cancelled => Err(format!("connecting to {target}: the run was cancelled")),
            },
        }
    }
}

#[async_trait]
impl NetworkGate for CallNetwork {
    async fn admit(&self, host: &str, port: u16) -> Result<(), String> {
        let host =
            host.trim_start_matches('[').trim_end_matches(']').trim_end_matches('.').to_ascii_lowercase();
        let plain =
            |character: char| character.is_ascii_alphanumeric() || matches!(character, '.' | '-' | '_' | ':');
        if host.is_empty() || host.len() > LONGEST_HOST || !host.chars().all(plain) {
            return Err(format!("`{}` is no name of a host", host.escape_debug()));
        }
        let mut answers = self.answers.lock().await;
        let key = format!("{host} {port}");
        if let Some(known) = answers.get(&key) {
            return known.clone();
        }
        let answer = self.decide(&host, port).await;
        if answers.len() < MOST_HOSTS {
            answers.insert(key, answer.clone());
        }
        answer
    }

    fn loopback_ports(&self) -> Vec<u16> {
        self.env.permission.loopback_ports()
    }
}
