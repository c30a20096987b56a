//! From what a tool gave back to what the model reads: redacted, within its limit, the whole kept.

use stepwell_protocol::{Artifact, ArtifactId, ToolCall, ToolDetail, ToolFailure, ToolResult};

use super::{CallEnv, Executor, Outcome};
use crate::ToolError;
use crate::erased::DynOutput;
use crate::registry::RegisteredTool;
use crate::truncate::cut_middle;
use crate::wording::counted;

impl Executor {
    pub(super) async fn finish(
        &self,
        call: &ToolCall,
        tool: &RegisteredTool,
        env: &CallEnv,
        ran: Result<DynOutput, ToolError>,
    ) -> Outcome {
        let (mut output, error) = match ran {
            Ok(output) => (output, None),
            Err(error) => (DynOutput { text: error.message.clone(), ..DynOutput::default() }, Some(error)),
        };
        let text = env.redactor.redact(&output.text).into_owned();
        redact_detail(env, &mut output.detail);
        env.redactor.redact_value(&mut output.value);
        let mut artifacts = output.artifacts;
        let text = self.within_limit(tool, env, text, &mut artifacts).await;
        for artifact in &artifacts {
            env.host.artifact_added(artifact);
        }
        let text = if text.is_empty() { "(no output)".to_owned() } else { text };
        let value = error.is_none().then_some(output.value);
        let error = error.map(|error| ToolFailure { class: error.class, message: text.clone() });
        let result = ToolResult {
            call_id: call.id.clone(),
            tool: tool.name().to_owned(),
            output: text,
            error,
            images: output.images,
            artifacts,
            detail: output.detail,
            duration_ms: 0,
        };
        Outcome { result, output: value, refused: None, stop: None }
    }

    /// Cuts text that is too long and keeps the whole as an artifact, named in the gap.
    async fn within_limit(
        &self,
        tool: &RegisteredTool,
        env: &CallEnv,
        text: String,
        artifacts: &mut Vec<Artifact>,
    ) -> String {
        let limit = tool.spec().output_limit;
        if text.len() <= limit {
            return text;
        }
        let kept = self.keep(tool, env, &text).await;
        let place = match &kept {
            Ok(artifact) => format!("the whole is in {}; read it with offset and limit", artifact.path),
            Err(reason) => format!("the whole could not be kept: {reason}"),
        };
        let cut = cut_middle(&text, limit, |bytes, lines| {
            let (bytes, lines) = (counted(bytes as u64, "byte"), counted(lines as u64, "line"));
            format!("[... {bytes}, {lines} left out; {place} ...]")
        });
        artifacts.extend(kept.ok());
        cut.map_or(text, |cut| cut.text)
    }

    async fn keep(&self, tool: &RegisteredTool, env: &CallEnv, text: &str) -> Result<Artifact, String> {
        let folder = env.host.artifact_dir().await.map_err(|error| error.to_string())?;
        let id = ArtifactId::generate();
        let path = folder.join(format!("{id}.txt"));
        self.options.artifacts.write(&path, text.as_bytes()).await.map_err(|error| error.to_string())?;
        Ok(Artifact {
            id,
            label: format!("full output of {}", tool.name()),
            path: path.display().to_string(),
            bytes: text.len() as u64,
            media_type: "text/plain".to_owned(),
        })
    }
}

/// Redacts every text of a detail. One that cannot be read back is left out rather than shown.
fn redact_detail(env: &CallEnv, detail: &mut Option<ToolDetail>) {
    let Some(shown) = detail.take() else { return };
    let Ok(mut value) = serde_json::to_value(shown) else { return };
    env.redactor.redact_value(&mut value);
    *detail = serde_json::from_value(value).ok();
}
