//! What a client can read of debug sessions: a program's output, and source files as the debugger knows them.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use stepwell_debug::session::Session;
use stepwell_tool_runtime::{Redactor, ResourceBody, ResourceEntry, ResourceTemplateEntry, Resources};
use stepwell_tools::DebugService;
use stepwell_workspace::files;

const OUTPUT: &str = "stepwell://output/";
const SOURCE: &str = "stepwell://source/";
/// Bytes of an answer at most.
const MOST: u64 = 1024 * 1024;
/// Frames whose files are offered.
const FRAMES: i64 = 50;
const PLAIN: &str = "text/plain";

pub struct DebugResources {
    pub service: Arc<DebugService>,
    pub redactor: Arc<Redactor>,
}

#[async_trait]
impl Resources for DebugResources {
    async fn list(&self) -> Vec<ResourceEntry> {
        let mut entries = Vec::new();
        for session in self.service.debugger.sessions() {
            entries.push(ResourceEntry {
                uri: format!("{OUTPUT}{}", session.id),
                name: format!("output of {} ({})", session.name, session.id),
                description: Some(format!("what the program printed; it is {}", session.phase())),
                mime_type: Some(PLAIN.to_owned()),
            });
            for path in sources(&session).await {
                let uri = format!("{SOURCE}{}{path}", session.id);
                if entries.iter().all(|entry| entry.uri != uri) {
                    let name = Path::new(&path).file_name().unwrap_or_default().to_string_lossy();
                    entries.push(ResourceEntry {
                        uri,
                        name: name.into_owned(),
                        description: Some(format!("on the stack of {}", session.id)),
                        mime_type: Some(PLAIN.to_owned()),
                    });
                }
            }
        }
        entries
    }

    async fn templates(&self) -> Vec<ResourceTemplateEntry> {
        let template = |uri: String, name: &str, description: &str| ResourceTemplateEntry {
            uri_template: uri,
            name: name.to_owned(),
            description: Some(description.to_owned()),
            mime_type: Some(PLAIN.to_owned()),
        };
        vec![
            template(
                format!("{OUTPUT}{{session}}"),
                "output",
                "What the program of a debug session printed.",
            ),
            template(
                format!("{SOURCE}{{session}}{{+path}}"),
                "source",
                "A source file of a debug session, by its absolute path: of the workspace, or on the stack.",
            ),
        ]
    }

    async fn read(&self, uri: &str) -> Result<Option<ResourceBody>, String> {
        if let Some(id) = uri.strip_prefix(OUTPUT) {
            let Ok(session) = self.service.debugger.session(Some(&id.into())) else { return Ok(None) };
            return Ok(Some(self.text(&printed(&session))));
        }
        let Some((id, path)) = uri.strip_prefix(SOURCE).and_then(|rest| {
            let at = rest.find('/')?;
            Some(rest.split_at(at))
        }) else {
            return Ok(None);
        };
        let Ok(session) = self.service.debugger.session(Some(&id.into())) else { return Ok(None) };
        self.source(&session, path).await
    }
}

impl DebugResources {
    /// A file of the workspace that may be read, or one that the program stands in.
    async fn source(&self, session: &Arc<Session>, path: &str) -> Result<Option<ResourceBody>, String> {
        if let Ok(place) = self.service.workspace.place(path) {
            let read = self.service.workspace.read_text(&place, MOST).map_err(|error| error.to_string())?;
            return Ok(Some(self.text(&read.text)));
        }
        if !sources(session).await.iter().any(|known| known == path) {
            return Ok(None);
        }
        let bytes = files::read_beginning(Path::new(path), MOST).map_err(|error| error.to_string())?;
        Ok(Some(self.text(&String::from_utf8_lossy(&bytes))))
    }

    fn text(&self, text: &str) -> ResourceBody {
        ResourceBody::Text {
            text: self.redactor.redact(text).into_owned(),
            mime_type: Some(PLAIN.to_owned()),
        }
    }
}

/// Everything a session still holds of its program's output.
fn printed(session: &Session) -> String {
    let (pieces, gone, _) = session.output_since(0);
    let text: String = pieces.into_iter().map(|piece| piece.text).collect();
    if gone > 0 { format!("[{gone} bytes before are no longer kept]\n{text}") } else { text }
}

/// The files the stopped program stands in.
async fn sources(session: &Arc<Session>) -> Vec<String> {
    let Some(thread) = session.stop().and_then(|stop| stop.thread) else { return Vec::new() };
    let Ok(stack) = session.stack(thread, 0, FRAMES).await else { return Vec::new() };
    let mut paths: Vec<String> = Vec::new();
    for path in stack.stack_frames.into_iter().filter_map(|frame| frame.source?.path) {
        if path.starts_with('/') && !paths.contains(&path) && Path::new(&path).is_file() {
            paths.push(path);
        }
    }
    paths
}
