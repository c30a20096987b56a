//! A tool without its types: what the registry holds and the executor runs.
//!
//! Every [`Tool`] is a [`DynTool`] by a blanket implementation. Tools whose types are known only at run time
//! (an MCP server's) implement [`DynTool`] themselves.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value};
use stepwell_protocol::{Artifact, CallForms, ErrorClass, Image, ToolDefinition, ToolDetail};

use crate::{PlanPhase, Planned, Refused, Tool, ToolContext, ToolError, ToolOutput, ToolSpec};

/// Schema keyword with which a field declares other names: `#[schemars(extend("x-aliases" = ["path"]))]`.
/// The executor renames such arguments; the model never sees the keyword.
pub const ALIASES_KEYWORD: &str = "x-aliases";

/// Schema keyword of a field that is understood and not offered, such as another agent's form of an argument.
pub(crate) const HIDDEN_KEYWORD: &str = "x-hidden";

/// Schema keyword of the field that gets a text given in place of the whole object.
pub(crate) const TEXT_KEYWORD: &str = "x-text";

#[async_trait]
pub trait DynTool: Send + Sync + 'static {
    fn spec(&self) -> ToolSpec;

    /// The name a call uses. Tools found at run time have one that `spec` cannot hold.
    fn name(&self) -> &str {
        self.spec().name
    }

    fn description(&self) -> String;

    /// JSON schema (2020-12) of the arguments, an object, with [`ALIASES_KEYWORD`] still in it.
    fn input_schema(&self) -> Value;

    /// JSON schema of the typed output, where there is one.
    fn output_schema(&self) -> Option<Value>;

    /// See [`Tool::plan`]. Arguments that do not fit the schema are an error.
    async fn plan(&self, ctx: &ToolContext, arguments: Value) -> Result<Planned<DynPlan>, ToolError>;

    /// See [`Tool::exclude`].
    fn exclude(&self, _plan: DynPlan, _refused: &Refused) -> Result<DynPlan, ToolError> {
        Err(ToolError::permission("this call cannot be run in part, so all of it is refused"))
    }

    async fn run(&self, ctx: &ToolContext, plan: DynPlan) -> Result<DynOutput, ToolError>;

    /// See [`Tool::guidance`].
    fn guidance(&self) -> Option<&'static str> {
        None
    }

    /// See [`Tool::is_basic`].
    fn is_basic(&self) -> bool {
        false
    }

    /// See [`Tool::brings`].
    fn brings(&self) -> &'static [&'static str] {
        &[]
    }

    /// See [`Tool::runs_side_by_side`].
    fn runs_side_by_side(&self) -> bool {
        false
    }

    /// See [`Tool::plan_phases`].
    fn plan_phases(&self) -> Option<&'static [PlanPhase]> {
        None
    }

    /// See [`Tool::loads_deferred`].
    fn loads_deferred(&self) -> bool {
        false
    }

    /// Whether only other tools call it, and no model is offered it.
    fn is_internal(&self) -> bool {
        false
    }

    /// The tool as it is offered to a model.
    fn definition(&self) -> ToolDefinition {
        let mut input_schema = self.input_schema();
        let forms = CallForms {
            aliases: self.spec().aliases.iter().map(ToString::to_string).collect(),
            parameters: other_parameters(&input_schema),
            example: take_example(&mut input_schema),
        };
        strip_hidden(&mut input_schema);
        strip_keyword(&mut input_schema, ALIASES_KEYWORD);
        strip_keyword(&mut input_schema, TEXT_KEYWORD);
        ToolDefinition { name: self.name().to_owned(), description: self.description(), input_schema, forms }
    }
}

/// A plan without its type. Only the tool that made it can run it.
#[derive(Clone)]
pub struct DynPlan(Arc<dyn Any + Send + Sync>);

impl DynPlan {
    pub fn new<P: Send + Sync + 'static>(plan: P) -> Self {
        Self(Arc::new(plan))
    }

    /// The plan, copied only while somebody else holds it too.
    pub fn take<P: Clone + Send + Sync + 'static>(self) -> Result<P, ToolError> {
        let plan = self.0.downcast::<P>().map_err(|_| ToolError::execution("the plan is of another tool"))?;
        Ok(Arc::unwrap_or_clone(plan))
    }
}

/// What a tool gave back.
#[derive(Clone, Debug, Default)]
pub struct DynOutput {
    /// The typed output as JSON.
    pub value: Value,
    /// The text the model reads.
    pub text: String,
    pub images: Vec<Image>,
    pub artifacts: Vec<Artifact>,
    pub detail: Option<ToolDetail>,
}

#[async_trait]
impl<T: Tool> DynTool for T {
    fn spec(&self) -> ToolSpec {
        Tool::spec(self)
    }

    fn description(&self) -> String {
        let schema = schema_of::<T::Input>(SchemaSettings::draft2020_12());
        unwrapped(schema.get("description").and_then(Value::as_str).unwrap_or_default())
    }

    fn input_schema(&self) -> Value {
        object_schema(schema_of::<T::Input>(SchemaSettings::draft2020_12()))
    }

    fn output_schema(&self) -> Option<Value> {
        let mut schema = schema_of::<T::Output>(SchemaSettings::draft2020_12().for_serialize());
        if let Some(object) = schema.as_object_mut() {
            object.shift_remove("title");
        }
        Some(schema)
    }

    async fn plan(&self, ctx: &ToolContext, arguments: Value) -> Result<Planned<DynPlan>, ToolError> {
        let input = read_input::<T::Input>(arguments)?;
        Ok(Tool::plan(self, ctx, input).await.map(DynPlan::new))
    }

    fn exclude(&self, plan: DynPlan, refused: &Refused) -> Result<DynPlan, ToolError> {
        Tool::exclude(self, plan.take()?, refused).map(DynPlan::new)
    }

    fn guidance(&self) -> Option<&'static str> {
        Tool::guidance(self)
    }

    fn is_basic(&self) -> bool {
        Tool::is_basic(self)
    }

    fn brings(&self) -> &'static [&'static str] {
        Tool::brings(self)
    }

    fn runs_side_by_side(&self) -> bool {
        Tool::runs_side_by_side(self)
    }

    fn plan_phases(&self) -> Option<&'static [PlanPhase]> {
        Tool::plan_phases(self)
    }

    fn loads_deferred(&self) -> bool {
        Tool::loads_deferred(self)
    }

    async fn run(&self, ctx: &ToolContext, plan: DynPlan) -> Result<DynOutput, ToolError> {
        let output = Tool::run(self, ctx, plan.take()?).await?;
        let value = serde_json::to_value(&output).map_err(|error| {
            ToolError::execution(format!("the output cannot be written as JSON: {error}"))
        })?;
        Ok(DynOutput {
            value,
            text: output.for_model().into_owned(),
            images: output.images(),
            artifacts: output.artifacts(),
            detail: output.detail(),
        })
    }
}

fn read_input<I: serde::de::DeserializeOwned>(arguments: Value) -> Result<I, ToolError> {
    serde_json::from_value(arguments).map_err(|error| {
        ToolError::new(ErrorClass::ParameterError, format!("the arguments do not fit: {error}"))
    })
}

fn schema_of<T: JsonSchema + ?Sized>(settings: SchemaSettings) -> Value {
    let settings = settings.with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let schema: Schema = settings.into_generator().into_root_schema_for::<T>();
    schema.to_value()
}

/// Brings a generated schema into the form models are given: an object, small, without what carries no meaning.
fn object_schema(schema: Value) -> Value {
    let mut object = match schema {
        Value::Object(object) => object,
        _ => Map::new(),
    };
    // The root's description is the tool's; said twice it costs tokens in every request.
    object.shift_remove("description");
    object.insert("type".into(), "object".into());
    object.entry("properties").or_insert_with(|| Value::Object(Map::new()));
    let mut schema = Value::Object(object);
    simplify(&mut schema);
    schema
}

/// Removes titles, number formats and the `null` alternatives of optional fields: an absent field says the same.
fn simplify(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            // `title` as a keyword is text; as a property's name it is a schema.
            if object.get("title").is_some_and(Value::is_string) {
                object.shift_remove("title");
            }
            if object.get("format").and_then(Value::as_str).is_some_and(is_number_format) {
                object.shift_remove("format");
            }
            if object.get("default").is_some_and(is_empty) {
                object.shift_remove("default");
            }
            if let Some(Value::String(description)) = object.get_mut("description") {
                *description = unwrapped(description);
            }
            drop_null_alternative(object);
            object.values_mut().for_each(simplify);
        }
        Value::Array(items) => items.iter_mut().for_each(simplify),
        _ => {}
    }
}

/// A default that an absent field suggests anyway.
fn is_empty(default: &Value) -> bool {
    match default {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(true) | Value::Number(_) => false,
    }
}

/// A doc comment without the line breaks of the source; paragraphs stay apart, and fenced text stays as it is.
fn unwrapped(comment: &str) -> String {
    let paragraphs = comment.split("\n\n").map(|paragraph| {
        if paragraph.starts_with("```") { paragraph.to_owned() } else { paragraph.replace('\n', " ") }
    });
    paragraphs.collect::<Vec<_>>().join("\n\n")
}

fn is_number_format(format: &str) -> bool {
    matches!(
        format,
        "uint" | "uint8" | "uint16" | "uint32" | "uint64" | "int" | "int32" | "int64" | "float" | "double"
    )
}

fn drop_null_alternative(object: &mut Map<String, Value>) {
    if let Some(Value::Array(types)) = object.get_mut("type") {
        types.retain(|kind| kind != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            object.insert("type".into(), only);
        }
    }
    if let Some(Value::Array(options)) = object.get_mut("enum") {
        options.retain(|option| !option.is_null());
    }
    if let Some(Value::Array(alternatives)) = object.get_mut("anyOf") {
        alternatives.retain(|alternative| alternative.get("type").and_then(Value::as_str) != Some("null"));
        if let [Value::Object(only)] = alternatives.as_slice() {
            let only = only.clone();
            object.shift_remove("anyOf");
            for (key, value) in only {
                object.entry(key).or_insert(value);
            }
        }
    }
}

/// Other names of arguments with the argument each stands for, and the arguments that are not offered.
fn other_parameters(schema: &Value) -> BTreeMap<String, String> {
    let mut names = BTreeMap::new();
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, property) in properties.into_iter().flatten() {
        let aliases = property.get(ALIASES_KEYWORD).and_then(Value::as_array).into_iter().flatten();
        names.extend(aliases.filter_map(Value::as_str).map(|alias| (alias.to_owned(), name.clone())));
        if property.get(HIDDEN_KEYWORD).is_some() {
            names.insert(name.clone(), name.clone());
        }
    }
    names.retain(|alias, name| alias == name || properties.is_none_or(|known| !known.contains_key(alias)));
    names
}

/// The example that an input gives of itself: `#[schemars(extend("examples" = [{...}]))]`.
fn take_example(schema: &mut Value) -> Option<Value> {
    let examples = schema.as_object_mut()?.shift_remove("examples")?;
    examples.as_array()?.first().cloned()
}

/// Removes a keyword everywhere in a schema.
pub(crate) fn strip_keyword(schema: &mut Value, keyword: &str) {
    match schema {
        Value::Object(object) => {
            object.shift_remove(keyword);
            object.values_mut().for_each(|value| strip_keyword(value, keyword));
        }
        Value::Array(items) => items.iter_mut().for_each(|value| strip_keyword(value, keyword)),
        _ => {}
    }
}

/// Removes the fields that are not offered.
fn strip_hidden(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            if let Some(Value::Object(properties)) = object.get_mut("properties") {
                properties.retain(|_, property| property.get(HIDDEN_KEYWORD).is_none());
            }
            object.values_mut().for_each(strip_hidden);
        }
        Value::Array(items) => items.iter_mut().for_each(strip_hidden),
        _ => {}
    }
}
