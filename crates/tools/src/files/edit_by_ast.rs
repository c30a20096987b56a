//! `edit_by_ast`: code changed by its structure, in one file or in all that mean the same.

use std::borrow::Cow;

use async_trait::async_trait;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};
use stepwell_protocol::Risk;
use stepwell_tool_runtime::{Category, Planned, Refused, Tool, ToolContext, ToolError, ToolSpec, counted};

use super::batch_edit::BatchEditInput;
use super::edit_plan::{Asked, EditPlan};
use super::report::ChangedFiles;
use super::service::{Caller, Change, FileService};
use super::structure::{OneEdit, StructureEditInput};
use crate::code::LONGEST_CALL;

pub struct EditByAst {
    service: FileService,
}

impl EditByAst {
    pub fn new(service: FileService) -> Self {
        Self { service }
    }
}

/// One edit, or several of one file in `edits`.
#[derive(Clone, Debug)]
pub enum EditByAstInput {
    One(Box<StructureEditInput>),
    Several(BatchEditInput),
}

impl<'de> Deserialize<'de> for EditByAstInput {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let failed = <D::Error as serde::de::Error>::custom;
        let mut value = Value::deserialize(deserializer)?;
        let file = value.get("file_path").cloned();
        let edits = value.get_mut("edits").map(Value::take).filter(|edits| !edits.is_null());
        let Some(Value::Array(mut edits)) = edits else {
            return serde_json::from_value(value).map(|edit| Self::One(Box::new(edit))).map_err(failed);
        };
        for edit in edits.iter_mut().filter_map(Value::as_object_mut) {
            if let Some(file) = &file {
                edit.entry("file_path").or_insert_with(|| file.clone());
            }
        }
        let edits: Vec<OneEdit> = serde_json::from_value(edits.into()).map_err(failed)?;
        Ok(Self::Several(BatchEditInput { edits }))
    }
}

impl JsonSchema for EditByAstInput {
    fn schema_name() -> Cow<'static, str> {
        StructureEditInput::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = StructureEditInput::json_schema(generator);
        // Each edit of `edits` has its own.
        schema.remove("required");
        let mut edits = json!({"type": "array", "x-hidden": true});
        edits["items"] = OneEdit::json_schema(generator).to_value();
        if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
            properties.insert("edits".into(), edits);
        }
        schema.insert(
            "examples".into(),
            json!([{"operation": "replace_body", "symbol": "total", "file_path": "src/invoice.py", "code": "return 1"}]),
        );
        schema
    }
}

impl EditByAstInput {
    fn summary(&self) -> String {
        match self {
            Self::One(edit) => edit.summary(),
            Self::Several(batch) => {
                let count = counted(batch.edits.len() as u64, "edit");
                match batch.edits.iter().find_map(OneEdit::path) {
                    Some(path) => format!("Make {count} in `{path}`"),
                    None => format!("Make {count}"),
                }
            }
        }
    }

    fn paths(&self) -> Vec<String> {
        match self {
            Self::One(edit) => edit.file_path.iter().cloned().collect(),
            Self::Several(batch) => batch.edits.iter().filter_map(OneEdit::path).collect(),
        }
    }

    fn planned(&self, service: &FileService, caller: &Caller) -> Result<Vec<Change>, ToolError> {
        match self {
            Self::One(edit) => {
                let mut changes = Vec::new();
                edit.plan(service, caller, &mut changes)?;
                Ok(changes)
            }
            Self::Several(batch) => batch.planned(service, caller),
        }
    }
}

#[async_trait]
impl Tool for EditByAst {
    type Input = EditByAstInput;
    type Plan = EditPlan;
    type Output = ChangedFiles;

    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "edit_by_ast",
            aliases: &[],
            category: Category::Files,
            risk: Risk::Write,
            time_limit: LONGEST_CALL,
            output_limit: 50 * 1024,
        }
    }

    async fn plan(&self, ctx: &ToolContext, input: Self::Input) -> Planned<EditPlan> {
        let asked = Asked { summary: input.summary(), diff: None, paths: input.paths() };
        self.service.plan_edit(ctx, asked, move |service, caller| input.planned(service, caller)).await
    }

    fn exclude(&self, plan: EditPlan, refused: &Refused) -> Result<EditPlan, ToolError> {
        plan.without(refused)
    }

    async fn run(&self, ctx: &ToolContext, plan: EditPlan) -> Result<Self::Output, ToolError> {
        Ok(ChangedFiles { files: self.service.apply(ctx, plan).await? })
    }
}
