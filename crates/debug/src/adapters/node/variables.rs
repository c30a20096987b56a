//! What is inside of scopes and values: pages of long lists, entries of maps, nothing that runs code unasked.

use serde_json::{Value, json};

use super::inspector::{Answer, Inspector};
use super::target::{CallFrame, Target};
use super::values::{GROUP, Reference, Shape, is_index, kind, shown};

/// Elements of a list that are told at once where no page is asked for.
const PAGE: i64 = 500;
/// Variables of one container that have names.
const MOST_NAMED: usize = 1000;

/// A part of a list, as an object of its own.
const SLICE: &str = "function(start, count) {
    const part = {};
    const end = Math.min(start + count, this.length);
    for (let at = start; at < end; at++) if (at in this) part[at] = this[at];
    return part;
}";
/// Entries of a map, keys and values in turn, or members of a set.
const ENTRIES: &str = "function(start, count) {
    const entries = [];
    let at = 0;
    const isMap = this instanceof Map;
    for (const entry of (isMap ? Map : Set).prototype.entries.call(this)) {
        if (at >= start + count) break;
        if (at++ < start) continue;
        entries.push(entry[0]);
        if (isMap) entries.push(entry[1]);
    }
    return entries;
}";

/// Which parts are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Parts {
    All,
    Indexed,
    Named,
}

impl Inspector {
    pub(crate) async fn variables(&self, arguments: &Value) -> Answer {
        let number = arguments.get("variablesReference").and_then(Value::as_i64).unwrap_or_default();
        let (thread, what, path) = {
            let references = self.references.lock();
            let referred = references.get(number)?;
            (referred.thread, referred.what.clone(), referred.path.clone())
        };
        let target = self.target_of(&json!({ "threadId": thread }))?;
        let parts = match arguments.get("filter").and_then(Value::as_str) {
            Some("indexed") => Parts::Indexed,
            Some("named") => Parts::Named,
            _ => Parts::All,
        };
        let given = |name: &str| arguments.get(name).and_then(Value::as_i64).filter(|number| *number >= 0);
        let start = given("start").unwrap_or_default();
        let count = given("count").filter(|count| *count > 0).unwrap_or(PAGE).min(PAGE);
        let rows = match what {
            Reference::Scope { frame, number, object } => {
                let mut rows = self.named(&target, &object, Shape::Named, None).await?;
                rows.splice(0..0, self.beside(&target, &frame, number).await?);
                page(rows, arguments, start, count)
            }
            Reference::Getter { owner, getter } => vec![self.got(&target, &owner, &getter, path).await?],
            Reference::Object { object, shape } => {
                let mut rows = Vec::new();
                let has_indexed = shape.indexed().is_some();
                if has_indexed && parts != Parts::Named {
                    rows = self.elements(&target, &object, shape, (start, count), path.as_deref()).await?;
                }
                if parts == Parts::Named || (parts == Parts::All && (start == 0 || !has_indexed)) {
                    let named = self.named(&target, &object, shape, path.as_deref()).await?;
                    rows.extend(if has_indexed { named } else { page(named, arguments, start, count) });
                }
                rows
            }
        };
        Ok(json!({ "variables": rows }))
    }

    /// What a frame knows beside its variables: its object, and what a call has just returned.
    async fn beside(&self, target: &Target, frame: &CallFrame, scope: usize) -> Result<Vec<Value>, String> {
        let mut rows = Vec::new();
        if scope != 0 {
            return Ok(rows);
        }
        if let Some(returned) = &frame.return_value {
            let returned = self.with_preview(target, returned).await;
            rows.push(self.row(target, "Return value", &returned, None)?);
        }
        let class = frame.this.get("className").and_then(Value::as_str).unwrap_or_default();
        if frame.this.get("type").and_then(Value::as_str) == Some("object")
            && !matches!(class, "" | "Object" | "global")
        {
            let this = self.with_preview(target, &frame.this).await;
            rows.push(self.row(target, "this", &this, Some("this".to_owned()))?);
        }
        Ok(rows)
    }

    /// A value of a stack, of whose inside the inspector does not tell unasked.
    pub(super) async fn with_preview(&self, target: &Target, value: &Value) -> Value {
        let Some(object) = value.get("objectId").and_then(Value::as_str) else { return value.clone() };
        let params = json!({ "objectId": object, "functionDeclaration": "function() { return this; }",
            "objectGroup": GROUP, "generatePreview": true, "silent": true });
        let shown = self.ask(target, "Runtime.callFunctionOn", params).await.ok();
        shown.and_then(|shown| shown.get("result").cloned()).unwrap_or_else(|| value.clone())
    }

    /// A row of a table of variables.
    pub(crate) fn row(&self, target: &Target, name: &str, value: &Value, path: Option<String>) -> Answer {
        let mut row = json!({ "name": name, "value": shown(value), "type": kind(value) });
        if let Some(path) = &path {
            row["evaluateName"] = path.as_str().into();
        }
        self.refer(target, value, path, &mut row)?;
        Ok(row)
    }

    /// Adds to a row, or an answer, how its value is looked into.
    pub(crate) fn refer(
        &self,
        target: &Target,
        value: &Value,
        path: Option<String>,
        row: &mut Value,
    ) -> Result<(), String> {
        let object = value.get("objectId").and_then(Value::as_str);
        let Some(object) = object.filter(|_| value.get("type").and_then(Value::as_str) != Some("symbol"))
        else {
            row["variablesReference"] = 0.into();
            return Ok(());
        };
        let shape = Shape::of(value);
        let what = Reference::Object { object: object.to_owned(), shape };
        row["variablesReference"] = self.references.lock().add(target.thread, what, path)?.into();
        if let Some(indexed) = shape.indexed() {
            row["indexedVariables"] = indexed.into();
        }
        Ok(())
    }

    /// What has names in an object.
    async fn named(
        &self,
        target: &Target,
        object: &str,
        shape: Shape,
        path: Option<&str>,
    ) -> Result<Vec<Value>, String> {
        let is_list = matches!(shape, Shape::List(_));
        let params = json!({ "objectId": object, "ownProperties": true, "generatePreview": true,
            "nonIndexedPropertiesOnly": is_list });
        let found = self.ask(target, "Runtime.getProperties", params).await?;
        let list = |name: &str| found.get(name).and_then(Value::as_array).cloned().unwrap_or_default();
        let mut rows = Vec::new();
        let mut known: Vec<String> = Vec::new();
        for property in list("result").iter().chain(&list("privateProperties")) {
            let name = property.get("name").and_then(Value::as_str).unwrap_or_default();
            if name == "__proto__" || (is_list && is_index(name)) {
                continue;
            }
            known.push(name.to_owned());
            rows.extend(self.property(target, object, property, path)?);
            if rows.len() >= MOST_NAMED {
                return Ok(rows);
            }
        }
        if shape == Shape::Instance {
            let params =
                json!({ "objectId": object, "accessorPropertiesOnly": true, "generatePreview": true });
            let of_class = self.ask(target, "Runtime.getProperties", params).await?;
            for property in of_class.get("result").and_then(Value::as_array).into_iter().flatten() {
                let name = property.get("name").and_then(Value::as_str).unwrap_or_default();
                if name != "__proto__" && !known.iter().any(|known| known == name) {
                    rows.extend(self.property(target, object, property, path)?);
                }
            }
        }
        for property in list("internalProperties") {
            let name = property.get("name").and_then(Value::as_str).unwrap_or_default();
            let tells = matches!(
                name,
                "[[PromiseState]]"
                    | "[[PromiseResult]]"
                    | "[[Target]]"
                    | "[[Handler]]"
                    | "[[PrimitiveValue]]"
                    | "[[BoundThis]]"
                    | "[[TargetFunction]]"
                    | "[[BoundArgs]]"
                    | "[[GeneratorState]]"
            );
            if let (true, Some(value)) = (tells, property.get("value")) {
                rows.push(self.row(target, name, value, None)?);
            }
        }
        Ok(rows)
    }

    /// A property as a row; one that runs code to be read is only offered.
    fn property(
        &self,
        target: &Target,
        owner: &str,
        property: &Value,
        path: Option<&str>,
    ) -> Result<Option<Value>, String> {
        let name = property.get("name").and_then(Value::as_str).unwrap_or_default();
        let path = member(path, name);
        if let Some(value) = property.get("value") {
            return self.row(target, name, value, path).map(Some);
        }
        let getter = property.pointer("/get/objectId").and_then(Value::as_str);
        let Some(getter) = getter else { return Ok(None) };
        let what = Reference::Getter { owner: owner.to_owned(), getter: getter.to_owned() };
        let reference = self.references.lock().add(target.thread, what, path.clone())?;
        let mut row = json!({ "name": name, "value": "(...)", "type": "getter", "variablesReference": reference,
            "presentationHint": { "kind": "property", "lazy": true } });
        if let Some(path) = path {
            row["evaluateName"] = path.into();
        }
        Ok(Some(row))
    }

    /// Runs a getter, which somebody asked for.
    async fn got(&self, target: &Target, owner: &str, getter: &str, path: Option<String>) -> Answer {
        let params = json!({ "objectId": getter, "functionDeclaration": "function(owner) { return Reflect.apply(this, owner, []); }",
            "arguments": [{ "objectId": owner }], "objectGroup": GROUP, "generatePreview": true, "silent": true });
        let called = self.ask(target, "Runtime.callFunctionOn", params).await?;
        let value = super::evaluate::result_of(&called)?;
        self.row(target, "", value, path)
    }

    /// A page of elements or entries.
    async fn elements(
        &self,
        target: &Target,
        object: &str,
        shape: Shape,
        (start, count): (i64, i64),
        path: Option<&str>,
    ) -> Result<Vec<Value>, String> {
        let take = if matches!(shape, Shape::List(_)) { SLICE } else { ENTRIES };
        let params = json!({ "objectId": object, "functionDeclaration": take, "objectGroup": GROUP, "silent": true,
            "arguments": [{ "value": start }, { "value": count }] });
        let part = self.ask(target, "Runtime.callFunctionOn", params).await?;
        let part =
            super::evaluate::result_of(&part)?.get("objectId").and_then(Value::as_str).unwrap_or_default();
        let params = json!({ "objectId": part, "ownProperties": true, "generatePreview": true });
        let found = self.ask(target, "Runtime.getProperties", params).await?;
        let found = found.get("result").and_then(Value::as_array).cloned().unwrap_or_default();
        let values = found.iter().filter(|one| one["name"].as_str().is_some_and(is_index));
        let values = values.filter_map(|one| Some((one["name"].as_str()?, one.get("value")?)));
        match shape {
            Shape::Map(_) => {
                let values: Vec<&Value> = values.map(|(_, value)| value).collect();
                values.chunks_exact(2).map(|pair| self.row(target, &shown(pair[0]), pair[1], None)).collect()
            }
            Shape::Set(_) => {
                let named = values.enumerate();
                named
                    .map(|(at, (_, value))| self.row(target, &(start + at as i64).to_string(), value, None))
                    .collect()
            }
            _ => values.map(|(name, value)| self.row(target, name, value, member(path, name))).collect(),
        }
    }
}

/// A page of what has names, where one is asked for.
fn page(rows: Vec<Value>, arguments: &Value, start: i64, count: i64) -> Vec<Value> {
    if arguments.get("count").and_then(Value::as_i64).unwrap_or_default() <= 0 {
        return rows;
    }
    rows.into_iter().skip(start as usize).take(count as usize).collect()
}

/// The expression of a part; a variable of a scope is its own.
fn member(path: Option<&str>, name: &str) -> Option<String> {
    let is_name = !name.starts_with(|first: char| first.is_ascii_digit())
        && name.chars().all(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '$'));
    match path {
        None => is_name.then(|| name.to_owned()),
        Some(path) if is_index(name) => Some(format!("{path}[{name}]")),
        Some(path) if is_name || name.starts_with('#') => Some(format!("{path}.{name}")),
        Some(path) => Some(format!("{path}[{}]", json!(name))),
    }
}
