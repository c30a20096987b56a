//! `edit`: one piece of text replaced by another.

use std::time::Duration;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use stepwell_code_intel::syntax::introduced;
use stepwell_protocol::Risk;
use stepwell_tool_runtime::{Category, Planned, Redactor, Refused, Tool, ToolContext, ToolError, ToolSpec};
use stepwell_workspace::Inside;

use super::diff;
use super::edit_plan::{Asked, EditPlan};
use super::matching::Amount;
use super::replace::{Pattern, Replacement};
use super::report::{self, ChangedFile};
use super::service::{Before, Caller, Change, FileService, like};

pub struct Edit {
    service: FileService,
}

impl Edit {
    pub fn new(service: FileService) -> Self {
        Self { service }
    }
}

/// Replaces text in a file. `old_str` must occur once; give more lines around it where it does not, or set
/// `replace_all`. Copy it exactly: small differences of white space are forgiven and reported, anything else is an
/// error that shows the nearest text.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct EditInput {
    /// Relative to the workspace, or absolute within it.
    #[schemars(extend("x-aliases" = ["path", "file", "filename", "target_file"]))]
    pub file_path: String,
    /// Text to find, without line numbers.
    #[schemars(extend("x-aliases" = ["old_string", "search", "old_text"]))]
    pub old_str: String,
    /// Text to put in its place.
    #[schemars(extend("x-aliases" = ["new_string", "replace", "new_text", "replacement"]))]
    pub new_str: String,
    /// Replace every occurrence.
    #[serde(default)]
    pub replace_all: bool,
    /// Replace all occurrences, and fail unless there are exactly this many.
    pub expected_replacements: Option<usize>,
    /// First line to look at, from 1.
    pub start_line: Option<usize>,
    /// Last line to look at.
    pub end_line: Option<usize>,
    /// `old_str` is a regular expression and every match is replaced; `new_str` may use $1.
    #[schemars(extend("x-aliases" = ["regex", "is_regex"]))]
    #[serde(default)]
    pub use_regex: bool,
    /// Only with `use_regex`.
    #[serde(default)]
    pub ignore_case: bool,
}

impl EditInput {
    /// What is asked for, checked as far as that goes without the file.
    pub fn replacement(&self) -> Result<Replacement, ToolError> {
        if self.old_str.is_empty() {
            return Err(ToolError::validation("`old_str` is empty; use `write` for a new file"));
        }
        if self.old_str == self.new_str && !self.use_regex {
            return Err(ToolError::validation("`old_str` and `new_str` are the same"));
        }
        if self.ignore_case && !self.use_regex {
            return Err(ToolError::validation("`ignore_case` needs `use_regex`"));
        }
        let amount = match (self.expected_replacements, self.replace_all) {
            (Some(0), _) => return Err(ToolError::validation("`expected_replacements` must be at least 1")),
            (Some(expected), _) => Amount::Exactly(expected),
            (None, true) => Amount::Every,
            (None, false) => Amount::One,
        };
        let lines = (self.start_line.is_some() || self.end_line.is_some())
            .then(|| (self.start_line.unwrap_or(1).max(1), self.end_line.unwrap_or(usize::MAX - 1)));
        let pattern = if self.use_regex {
            Pattern::Expression { ignore_case: self.ignore_case }
        } else {
            Pattern::Text
        };
        Ok(Replacement { old: self.old_str.clone(), new: self.new_str.clone(), amount, lines, pattern })
    }

    /// Refuses a replacement whose line breaks arrived as `\n`: where the text as it came breaks the file and the text
    /// with line breaks does not.
    fn check_escapes(
        &self,
        place: &Inside,
        before: &Before,
        text: &str,
        redactor: &Redactor,
    ) -> Result<(), ToolError> {
        let is_suspect =
            !self.new_str.contains('\n') && self.new_str.contains("\\n") && !self.old_str.contains("\\n");
        let errors = |text: &str| introduced(place.relative(), &before.file.text, text);
        if !is_suspect || errors(text).is_empty() {
            return Ok(());
        }
        let meant = EditInput { new_str: self.new_str.replace("\\n", "\n"), ..self.clone() }.replacement()?;
        let is_whole = meant
            .apply(&place.display(), &before.file.text, redactor)
            .is_ok_and(|replaced| errors(&replaced.text).is_empty());
        if !is_whole {
            return Ok(());
        }
        Err(ToolError::validation(format!(
            "`{}` was not changed: `new_str` has `\\n` where line breaks seem to be meant, and would break the syntax; \
             send it with real line breaks",
            place.display()
        )))
    }

    /// The file with the edit made, not yet written.
    pub fn planned(&self, service: &FileService, caller: &Caller) -> Result<Change, ToolError> {
        let place = service.place(&self.file_path)?;
        let replacement = self.replacement()?;
        let before = service.open(caller, &place)?;
        let replaced = replacement.apply(&place.display(), &before.file.text, &caller.redactor)?;
        self.check_escapes(&place, &before, &replaced.text, &caller.redactor)?;
        let after = like(Some(&before), replaced.text);
        let mut change = Change::new(place, Some(before), Some(after));
        change.line = Some(replaced.line);
        change.replacements = replaced.count;
        change.show = !replaced.notes.is_empty();
        change.notes = replaced.notes;
        Ok(change)
    }
}

#[async_trait]
impl Tool for Edit {
    type Input = EditInput;
    type Plan = EditPlan;
    type Output = ChangedFile;

    fn is_basic(&self) -> bool {
        true
    }

    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "edit",
            aliases: &["search_and_replace", "str_replace", "edit_file", "search_replace"],
            category: Category::Files,
            risk: Risk::Write,
            time_limit: Duration::from_secs(30),
            output_limit: 50 * 1024,
        }
    }

    async fn plan(&self, ctx: &ToolContext, input: Self::Input) -> Planned<EditPlan> {
        let path = &input.file_path;
        let asked = Asked {
            summary: format!("Edit `{path}`"),
            diff: Some(diff::change(&ctx.redactor, path, &input.old_str, &input.new_str).diff),
            paths: vec![path.clone()],
        };
        self.service
            .plan_edit(ctx, asked, move |service, caller| Ok(vec![input.planned(service, caller)?]))
            .await
    }

    fn exclude(&self, plan: EditPlan, refused: &Refused) -> Result<EditPlan, ToolError> {
        plan.without(refused)
    }

    async fn run(&self, ctx: &ToolContext, plan: EditPlan) -> Result<Self::Output, ToolError> {
        report::only(self.service.apply(ctx, plan).await?)
    }
}
