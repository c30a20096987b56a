//! Inspects a stopped program: stack, scopes, variables, expressions.

use std::collections::HashMap;
use std::path::Path;

use serde_json::{Value, json};

use super::{ANSWER, Session};
use crate::dap::types::{
    Evaluated, ExceptionInfo, Scope, Scopes, StackFrame, StackTrace, Thread, Threads, Variable, Variables,
};
use crate::ids::{AdapterFrameId, AdapterReference, ThreadId};
use crate::{Error, Result};

/// Maximum number of variables per request.
const MOST_VARIABLES: i64 = 500;
/// Deadline of an evaluation.
const EVALUATION: std::time::Duration = std::time::Duration::from_secs(20);

/// The value of an expression.
#[derive(Clone, Debug, Default)]
pub struct Evaluation {
    pub value: String,
    pub kind: Option<String>,
    pub adapter_ref: AdapterReference,
    pub indexed: Option<i64>,
    pub named: Option<i64>,
    pub memory_reference: Option<String>,
}

/// A page of variables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Paging {
    pub start: Option<i64>,
    pub count: Option<i64>,
    /// The total, where known: gdb 16 refuses pages beyond it.
    pub total: Option<i64>,
    /// Pages the elements of a list.
    pub indexed: bool,
}

impl Paging {
    fn is_whole(self) -> bool {
        self.start.is_none() && self.count.is_none()
    }

    fn wanted(self) -> (i64, i64) {
        let start = self.start.unwrap_or_default().max(0);
        let count = self.count.unwrap_or(MOST_VARIABLES).clamp(0, MOST_VARIABLES);
        let left = self.total.map_or(i64::MAX, |total| (total - start).max(0));
        (start, count.min(left))
    }
}

impl Session {
    pub async fn stack(&self, thread: ThreadId, start: i64, levels: i64) -> Result<StackTrace> {
        let arguments = json!({ "threadId": thread, "startFrame": start, "levels": levels });
        let mut stack: StackTrace = self.client()?.request("stackTrace", arguments, ANSWER).await?;
        self.withhold_hidden(&mut stack);
        Ok(stack)
    }

    /// Removes the paths of hidden files, so that nothing is read from them. A program can name any file as its source.
    fn withhold_hidden(&self, stack: &mut StackTrace) {
        let hidden = &self.shared.options.hidden_sources;
        if hidden.is_empty() {
            return;
        }
        let mut judged: HashMap<String, bool> = HashMap::new();
        for source in stack.stack_frames.iter_mut().filter_map(|frame| frame.source.as_mut()) {
            let Some(path) = source.path.take() else { continue };
            let is_hidden =
                *judged.entry(path.clone()).or_insert_with(|| hidden.of(Path::new(&path)).is_some());
            if !is_hidden {
                source.path = Some(path);
            }
        }
    }

    /// Returns the depth of a thread's stack.
    pub(crate) async fn depth(&self, thread: ThreadId) -> Result<usize> {
        const MOST: i64 = 1000;
        Ok(self.stack(thread, 0, MOST).await?.stack_frames.len())
    }

    /// Returns the top frame of the stopped thread.
    pub async fn top_frame(&self) -> Result<StackFrame> {
        let thread = self.top_frame_thread().await?;
        let stack = self.stack(thread, 0, 1).await?;
        stack.stack_frames.into_iter().next().ok_or_else(|| Error::State {
            what: format!("thread {thread} has no frames"),
            hint: "choose another thread; `get_threads` lists them".to_owned(),
        })
    }

    /// Returns the stopped thread.
    pub async fn top_frame_thread(&self) -> Result<ThreadId> {
        match self.stopped()?.thread {
            Some(thread) => Ok(thread),
            None => self.any_thread().await,
        }
    }

    /// Sets a variable of a frame, in whichever scope it is.
    pub async fn set_local(&self, frame: AdapterFrameId, name: &str, value: &str) -> Result<Evaluation> {
        let is_plain = name.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
        if !is_plain && self.can("supportsSetExpression") {
            return self.set_expression(frame, name, value).await;
        }
        for scope in self.scopes(frame).await? {
            if scope.expensive {
                continue;
            }
            let rows = self.variables(scope.variables_reference, Some(frame), Paging::default()).await?;
            if rows.iter().any(|row| row.name == name) {
                return self.set_variable(scope.variables_reference, Some(frame), name, value).await;
            }
        }
        Err(Error::Parameter {
            what: format!("the frame has no variable `{name}`"),
            hint: Some("for a part of a value give what holds it as `variables_reference`".to_owned()),
        })
    }

    pub async fn threads(&self) -> Result<Vec<Thread>> {
        let threads: Threads = self.client()?.request("threads", json!({}), ANSWER).await?;
        let mut state = self.state.lock();
        state.threads = threads.threads.iter().map(|thread| (thread.id, thread.name.clone())).collect();
        Ok(threads.threads)
    }

    pub async fn scopes(&self, frame: AdapterFrameId) -> Result<Vec<Scope>> {
        let scopes: Scopes = self.client()?.request("scopes", json!({ "frameId": frame }), ANSWER).await?;
        Ok(scopes.scopes)
    }

    /// Returns the variables of a scope or a value. `scope_of` is the frame whose scope it is.
    pub async fn variables(
        &self,
        reference: AdapterReference,
        scope_of: Option<AdapterFrameId>,
        paging: Paging,
    ) -> Result<Vec<Variable>> {
        let quirks = self.adapter.quirks();
        let _turn = match scope_of {
            Some(frame) if quirks.scopes_follow_last_request => {
                let turn = self.frame_turn.acquire().await;
                self.scopes(frame).await?;
                turn.ok()
            }
            _ => None,
        };
        let mut arguments = json!({ "variablesReference": reference });
        let (start, count) = paging.wanted();
        if quirks.pages_variables && !paging.is_whole() {
            arguments["start"] = start.into();
            arguments["count"] = count.into();
            // Delve pages only what it is told to page.
            if paging.indexed {
                arguments["filter"] = "indexed".into();
            }
        }
        let variables: Variables = self.client()?.request("variables", arguments, ANSWER).await?;
        let mut variables = variables.variables;
        if !quirks.pages_variables && !paging.is_whole() {
            variables = variables.into_iter().skip(start as usize).take(count as usize).collect();
        }
        // js-debug adds to a page what is not paged.
        variables.truncate(count as usize);
        Ok(variables)
    }

    /// Returns the local scope of a frame with its variables.
    pub async fn locals(&self, frame: AdapterFrameId, most: i64) -> Result<Option<(Scope, Vec<Variable>)>> {
        let _turn = if self.adapter.quirks().scopes_follow_last_request {
            self.frame_turn.acquire().await.ok()
        } else {
            None
        };
        let scopes = self.scopes(frame).await?;
        // Parameters and the blocks of a function may have scopes of their own.
        let is_local = |scope: &&Scope| {
            let name = scope.name.to_lowercase();
            matches!(scope.presentation_hint.as_deref(), Some("locals" | "arguments"))
                || name.starts_with("local")
                || name.starts_with("block")
                || name.starts_with("argument")
        };
        let mut local: Vec<&Scope> =
            scopes.iter().filter(is_local).filter(|scope| !scope.expensive).collect();
        if local.is_empty() {
            local.extend(scopes.first());
        }
        let mut variables: Vec<Variable> = Vec::new();
        let mut asked = Vec::new();
        for scope in &local {
            let mut arguments = json!({ "variablesReference": scope.variables_reference });
            let holds =
                scope.named_variables.unwrap_or_default() + scope.indexed_variables.unwrap_or_default();
            if self.adapter.quirks().pages_variables && holds > most {
                arguments["start"] = 0.into();
                arguments["count"] = most.into();
            }
            asked.push(self.client()?.send("variables", arguments)?);
        }
        for sent in asked {
            let body = sent.answer(ANSWER).await?;
            let more: Variables =
                body.and_then(|body| serde_json::from_str(body.get()).ok()).unwrap_or_default();
            // An inner variable hides an outer one of its name.
            let new = |row: &Variable| !variables.iter().any(|known| known.name == row.name);
            let more: Vec<Variable> = more.variables.into_iter().filter(new).collect();
            variables.extend(more);
        }
        Ok(local.first().map(|scope| ((*scope).clone(), variables)))
    }

    /// Evaluates an expression in a frame.
    pub async fn evaluate(
        &self,
        expression: &str,
        frame: Option<AdapterFrameId>,
        context: &str,
    ) -> Result<Evaluation> {
        let quirks = self.adapter.quirks();
        if quirks.finds_names_in_scopes
            && let Some(frame) = frame
            && let Some(found) = self.walk(expression, frame).await?
        {
            return Ok(found);
        }
        let context = if quirks.repl_is_command_line && context != "hover" { "watch" } else { context };
        let mut arguments = json!({ "expression": expression, "context": context });
        if let Some(frame) = frame {
            arguments["frameId"] = json!(frame);
        }
        let value: Evaluated = self.client()?.request("evaluate", arguments, EVALUATION).await?;
        Ok(Evaluation {
            value: value.result,
            kind: value.kind,
            adapter_ref: value.variables_reference,
            indexed: value.indexed_variables,
            named: value.named_variables,
            memory_reference: value.memory_reference,
        })
    }

    /// A plain name such as `result` or `self.count`, found among the variables: LLDB's expressions take some names
    /// for types of the language.
    async fn walk(&self, expression: &str, frame: AdapterFrameId) -> Result<Option<Evaluation>> {
        let names: Vec<&str> = expression.trim().split('.').collect();
        let is_name = |name: &&str| {
            !name.is_empty()
                && !name.starts_with(|first: char| first.is_ascii_digit())
                && name.chars().all(|letter| letter.is_alphanumeric() || letter == '_')
        };
        if !names.iter().all(is_name) {
            return Ok(None);
        }
        let Some((_, mut variables)) = self.locals(frame, MOST_VARIABLES).await? else { return Ok(None) };
        let mut found: Option<Variable> = None;
        for name in names {
            if let Some(parent) = &found {
                if parent.variables_reference.is_empty() {
                    return Ok(None);
                }
                variables = self.variables(parent.variables_reference, None, Paging::default()).await?;
            }
            match variables.iter().find(|variable| variable.name == name) {
                Some(variable) => found = Some(variable.clone()),
                None => return Ok(None),
            }
        }
        Ok(found.map(|variable| Evaluation {
            value: variable.value,
            kind: variable.kind,
            adapter_ref: variable.variables_reference,
            indexed: variable.indexed_variables,
            named: variable.named_variables,
            memory_reference: variable.memory_reference,
        }))
    }

    /// Sets a variable of a scope or a value.
    pub async fn set_variable(
        &self,
        container: AdapterReference,
        scope_of: Option<AdapterFrameId>,
        name: &str,
        value: &str,
    ) -> Result<Evaluation> {
        if !self.can("supportsSetVariable") {
            return Err(Error::Unable {
                adapter: self.adapter.kind().name().to_owned(),
                what: "change variables".to_owned(),
                hint: None,
            });
        }
        let _turn = match scope_of {
            Some(frame) if self.adapter.quirks().scopes_follow_last_request => {
                let turn = self.frame_turn.acquire().await;
                self.scopes(frame).await?;
                turn.ok()
            }
            _ => None,
        };
        let arguments = json!({ "variablesReference": container, "name": name, "value": value });
        let set: Evaluated = self.client()?.request("setVariable", arguments, EVALUATION).await?;
        Ok(Evaluation {
            value: set.result,
            kind: set.kind,
            adapter_ref: set.variables_reference,
            ..Evaluation::default()
        })
    }

    /// Sets the value of an expression, where the adapter supports it.
    pub async fn set_expression(
        &self,
        frame: AdapterFrameId,
        expression: &str,
        value: &str,
    ) -> Result<Evaluation> {
        let arguments = json!({ "expression": expression, "value": value, "frameId": frame });
        let set: Evaluated = self.client()?.request("setExpression", arguments, EVALUATION).await?;
        Ok(Evaluation {
            value: set.result,
            kind: set.kind,
            adapter_ref: set.variables_reference,
            ..Evaluation::default()
        })
    }

    pub async fn exception_info(&self, thread: ThreadId) -> Option<ExceptionInfo> {
        if !self.can("supportsExceptionInfoRequest") {
            return None;
        }
        self.client().ok()?.request("exceptionInfo", json!({ "threadId": thread }), ANSWER).await.ok()
    }

    /// Sets the exception filters.
    pub async fn set_exception_filters(
        &self,
        filters: Vec<String>,
        conditions: Vec<(String, String)>,
    ) -> Result<()> {
        let offered = self.capabilities().exception_breakpoint_filters;
        if let Some(unknown) =
            filters.iter().find(|wish| !offered.iter().any(|filter| filter.filter == **wish))
        {
            let known: Vec<String> =
                offered.iter().map(|filter| format!("`{}` ({})", filter.filter, filter.label)).collect();
            return Err(Error::Parameter {
                what: format!("{} has no exception filter `{unknown}`", self.adapter.kind()),
                hint: Some(if known.is_empty() {
                    "it has none".to_owned()
                } else {
                    format!("it has {}", known.join(", "))
                }),
            });
        }
        let options: Vec<Value> = conditions
            .into_iter()
            .map(|(filter, condition)| json!({ "filterId": filter, "condition": condition }))
            .collect();
        let mut arguments = json!({ "filters": filters });
        if !options.is_empty() {
            arguments["filterOptions"] = options.into();
        }
        let _: Value = self.client()?.request("setExceptionBreakpoints", arguments, ANSWER).await?;
        self.state.lock().exception_filters = filters;
        Ok(())
    }

    /// Sends a request.
    pub(crate) async fn request(&self, command: &str, arguments: Value) -> Result<Value> {
        self.client()?.request(command, arguments, ANSWER).await
    }

    /// Sends a request that needs a capability.
    pub async fn ask(&self, capability: &str, command: &str, what: &str, arguments: Value) -> Result<Value> {
        if !self.can(capability) {
            return Err(Error::Unable {
                adapter: self.adapter.kind().name().to_owned(),
                what: what.to_owned(),
                hint: None,
            });
        }
        self.client()?.request(command, arguments, ANSWER).await
    }
}
