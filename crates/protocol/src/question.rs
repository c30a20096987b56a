//! Questions to the person: clarifications and decisions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{QuestionId, TaskOrigin};

/// What a clarification is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum ClarificationKind {
    Scope,
    Approach,
    Prerequisite,
    Priority,
    #[default]
    Custom,
}

/// What a decision is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum DecisionKind {
    Branch,
    Method,
    Confirmation,
    Risk,
    #[default]
    Custom,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(tag = "kind", content = "about", rename_all = "snake_case")]
pub enum QuestionKind {
    Clarification(ClarificationKind),
    Decision(DecisionKind),
    /// The engine asks whether to go on: a loop, a budget, a turn limit.
    Continue,
}

/// One possible answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct QuestionOption {
    pub id: String,
    pub label: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(default)]
    pub recommended: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimated_time: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimated_cost: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub risks: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct Question {
    pub id: QuestionId,
    #[serde(flatten)]
    pub kind: QuestionKind,
    pub text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    #[serde(default)]
    pub options: Vec<QuestionOption>,
    /// Whether an answer outside the options is accepted.
    pub allow_custom: bool,
    /// The option taken when nobody answers in time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_option: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(type = "number | null")]
    pub timeout_seconds: Option<u64>,
    /// The sub-task that asks, where it is not the task itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<TaskOrigin>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct QuestionAnswer {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub option: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    pub by: AnsweredBy,
    /// The front end that answered, as it calls itself; the engine fills it in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answered_from: Option<String>,
}

impl QuestionAnswer {
    pub fn new(option: Option<String>, text: Option<String>, by: AnsweredBy) -> Self {
        Self { option, text, by, answered_from: None }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum AnsweredBy {
    Person,
    /// Headless: the recommended or default option was taken.
    Policy,
    Timeout,
    /// Nobody can answer; the model is told to decide by itself or stop.
    Nobody,
}
