//! What the writing tools share: opening files, planning changes, making them all or none.

use std::path::Path;
use std::sync::Arc;

use parking_lot::Mutex;
use stepwell_protocol::{Event, TaskId};
use stepwell_tool_runtime::{Host, Redactor, ToolContext, ToolError};
use stepwell_workspace::{Encoding, Error, Executable, Inside, TextFile, Workspace};

use tokio_util::sync::CancellationToken;

use super::journal::{Entry, Journal, Note};
use super::seen::SeenFiles;
use super::{LARGEST_EDIT, explained, place, report::ChangedFile};
use crate::code::CodeService;

/// The workspace with what is known of its files. Cheap to clone.
#[derive(Clone)]
pub struct FileService {
    pub workspace: Workspace,
    pub seen: Arc<SeenFiles>,
    /// What is known of the code in it.
    pub code: Arc<CodeService>,
    journal: Journal,
    /// Two calls never write at once: each checks that the files are still what it planned with.
    writing: Arc<Mutex<()>>,
}

/// On whose behalf something is done.
#[derive(Clone)]
pub struct Caller {
    pub task: TaskId,
    pub redactor: Arc<Redactor>,
    pub cancel: CancellationToken,
    /// Whose log knows what the task saw before.
    host: Arc<dyn Host>,
}

impl Caller {
    pub fn of(ctx: &ToolContext) -> Self {
        Self {
            task: ctx.task.clone(),
            redactor: Arc::clone(&ctx.redactor),
            cancel: ctx.cancel.clone(),
            host: Arc::clone(&ctx.host),
        }
    }
}

/// A file as it was when a change was planned.
#[derive(Clone, Debug)]
pub struct Before {
    pub bytes: Vec<u8>,
    pub file: TextFile,
}

/// What becomes of one file.
#[derive(Clone, Debug)]
pub struct Change {
    pub place: Inside,
    /// `None` for a file that is created, or whose content is replaced unread.
    pub before: Option<Before>,
    /// `None` for a file that is deleted.
    pub after: Option<TextFile>,
    pub executable: Executable,
    /// Whether there was a file when the change was planned.
    pub replaces: bool,
    /// Where the file was before and what it held, for one that is moved.
    pub moved_from: Option<(Inside, String)>,
    /// Line of the first change, from 1.
    pub line: Option<usize>,
    pub replacements: usize,
    /// What the model should know of how it was done.
    pub notes: Vec<String>,
    /// Whether the model should see the outcome, because it was not made to the letter.
    pub show: bool,
}

impl Change {
    pub fn new(place: Inside, before: Option<Before>, after: Option<TextFile>) -> Self {
        Self {
            place,
            before,
            after,
            executable: Executable::Keep,
            replaces: false,
            moved_from: None,
            line: None,
            replacements: 1,
            notes: Vec::new(),
            show: false,
        }
    }

    pub fn old_text(&self) -> &str {
        match (&self.before, &self.moved_from) {
            (Some(before), _) => &before.file.text,
            (None, Some((_, text))) => text,
            (None, None) => "",
        }
    }

    pub fn new_text(&self) -> &str {
        self.after.as_ref().map_or("", |after| after.text.as_str())
    }
}

/// A change about to be made: what the file holds and what it will hold, `None` for no file.
struct Write {
    change: Change,
    old: Option<Vec<u8>>,
    new: Option<Vec<u8>>,
}

impl FileService {
    /// Puts back at once what a process that was killed left half done, before anybody looks at the files.
    pub fn new(workspace: Workspace, code: Arc<CodeService>, unfinished_edits: &Path) -> Self {
        let journal = Journal::new(unfinished_edits, &workspace);
        journal.recover(&workspace);
        Self { workspace, seen: Arc::default(), code, journal, writing: Arc::default() }
    }

    /// Runs work on files beside the rest of the program: a disk may be slow and a file large.
    pub async fn in_background<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Self) -> Result<T, ToolError> + Send + 'static,
    ) -> Result<T, ToolError> {
        let service = self.clone();
        tokio::task::spawn_blocking(move || work(&service))
            .await
            .map_err(|error| ToolError::execution(format!("the files could not be worked on: {error}")))?
    }

    /// Puts what was seen into the task's log. Without it a restart only forgets.
    pub async fn record_seen(&self, ctx: &ToolContext) {
        let files = self.seen.take_news(&ctx.task);
        if !files.is_empty() {
            ctx.host.record(Event::FilesSeen { files }).await.ok();
        }
    }

    /// Whether the task has read or written a file.
    pub fn knows(&self, caller: &Caller, place: &Inside) -> bool {
        self.seen.recall(&caller.task, || caller.host.seen());
        self.seen.knows(&caller.task, place)
    }

    pub fn place(&self, path: &str) -> Result<Inside, ToolError> {
        place(&self.workspace, path)
    }

    pub fn explained(&self, place: &Inside, error: Error) -> ToolError {
        explained(&self.workspace, Some(place), error)
    }

    /// Opens a text file to change it; refuses one that changed since the task saw it.
    pub fn open(&self, caller: &Caller, place: &Inside) -> Result<Before, ToolError> {
        let bytes = self.workspace.read(place, LARGEST_EDIT).map_err(|error| self.explained(place, error))?;
        let file = stepwell_workspace::decode(&bytes);
        self.seen.recall(&caller.task, || caller.host.seen());
        if let Some(shown) = self.seen.changed(&caller.task, place, &bytes, file.as_ref(), &caller.redactor) {
            let shown = if shown.is_empty() { String::new() } else { format!("; it has now:{shown}\n") };
            return Err(ToolError::validation(format!(
                "`{}` was changed by someone else since you last read it{shown}; read it again before you \
                 change it",
                place.display()
            )));
        }
        let file = file
            .ok_or_else(|| self.explained(place, Error::Binary { path: place.absolute().to_path_buf() }))?;
        Ok(Before { bytes, file })
    }

    /// The same for a file that need not exist.
    pub fn open_if_exists(&self, caller: &Caller, place: &Inside) -> Result<Option<Before>, ToolError> {
        match self.workspace.peek(place) {
            Err(Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(self.explained(place, error)),
            Ok(_) => self.open(caller, place).map(Some),
        }
    }

    /// How a new file's lines end.
    pub fn line_end_for(&self, place: &Inside) -> &'static str {
        super::line_ends::for_new_file(&self.workspace, place)
    }

    /// Every path planned changes touch, as people read it, and where it leads through links if that is elsewhere.
    pub fn paths(&self, changes: &[Change]) -> Vec<String> {
        let places = changes.iter().flat_map(|change| {
            [Some(&change.place), change.moved_from.as_ref().map(|(from, _)| from)].into_iter().flatten()
        });
        self.named(places.map(Inside::display))
    }

    /// The same for paths that were only named, because nothing could be planned.
    pub fn named(&self, names: impl IntoIterator<Item = String>) -> Vec<String> {
        let mut paths: Vec<String> = Vec::new();
        for name in names {
            let real = self.workspace.place(&name).map(|place| self.workspace.real_path(&place));
            let real = real.and_then(|path| self.workspace.place(&path.to_string_lossy()));
            for path in [Some(name), real.ok().map(|place| place.display())].into_iter().flatten() {
                if !paths.contains(&path) {
                    paths.push(path);
                }
            }
        }
        paths
    }

    /// Makes all changes or none, and verifies what is on the disk then.
    pub fn commit(&self, caller: &Caller, changes: Vec<Change>) -> Result<Vec<ChangedFile>, ToolError> {
        let mut writes: Vec<Write> = Vec::with_capacity(changes.len());
        for change in changes {
            let new = match &change.after {
                Some(file) => Some(file.to_bytes().map_err(|misfit| {
                    ToolError::validation(format!(
                        "`{}` was not changed: {misfit}; use other characters, or convert the file first",
                        change.place.display()
                    ))
                })?),
                None => None,
            };
            writes.push(Write { change, old: None, new });
        }
        let guard = self.writing.lock();
        self.journal.recover(&self.workspace);
        for write in &mut writes {
            write.old = self.still_the_same(&write.change)?;
        }
        // Deletions come last: what they take away is the hardest to bring back.
        writes.sort_by_key(|write| write.new.is_none());
        let note = self.noted(&writes)?;
        for (done, write) in writes.iter().enumerate() {
            if let Err(error) = self.write_one(write) {
                let failed = self.undo(&writes[..=done]);
                let what = match failed.as_slice() {
                    [] => "nothing was changed".to_owned(),
                    left => format!("these could not be put back and are changed: {}", left.join(", ")),
                };
                return Err(ToolError::new(error.class, format!("{}; {what}", error.message)));
            }
        }
        drop(note);
        drop(guard);
        for Write { change, new, .. } in &writes {
            match new {
                Some(bytes) => self.seen.note_written(&caller.task, &change.place, bytes),
                None => self.seen.forget(&caller.task, &change.place),
            }
        }
        let mut changes: Vec<Change> = writes.into_iter().map(|write| write.change).collect();
        // A moved file is told once, at its new place.
        let moved: Vec<_> = changes
            .iter()
            .filter_map(|change| change.moved_from.as_ref())
            .map(|(from, _)| from.display())
            .collect();
        changes.retain(|change| change.after.is_some() || !moved.contains(&change.place.display()));
        Ok(changes.iter().map(|change| ChangedFile::of(change, &caller.redactor)).collect())
    }

    /// Notes what several files hold before the first of them changes. One file changes at once and needs no note.
    fn noted(&self, writes: &[Write]) -> Result<Option<Note>, ToolError> {
        if writes.len() < 2 {
            return Ok(None);
        }
        let entries = writes.iter().map(|write| Entry {
            place: &write.change.place,
            old: write.old.as_deref(),
            new: write.new.as_deref(),
            executable: write.change.executable,
        });
        let entries: Vec<Entry<'_>> = entries.collect();
        let noted = self.journal.begin(&self.workspace, &entries);
        noted.map(Some).map_err(|error| {
            ToolError::execution(format!(
                "nothing was changed: what the files hold cannot be noted first: {error}"
            ))
        })
    }

    /// What a file holds right now; refuses to overwrite what came between planning and writing, which is as long as the
    /// person takes to approve.
    fn still_the_same(&self, change: &Change) -> Result<Option<Vec<u8>>, ToolError> {
        let now = match self.workspace.read(&change.place, LARGEST_EDIT) {
            Ok(now) => Some(now),
            Err(Error::NotFound { .. }) => None,
            Err(error) => return Err(self.explained(&change.place, error)),
        };
        let is_same = match (&change.before, &now) {
            (Some(before), Some(now)) => *now == before.bytes,
            (Some(_), None) => false,
            // A file that is no text may be replaced as a whole; one that is deleted must have been looked at.
            (None, now) => change.after.is_some() && now.is_some() == change.replaces,
        };
        if is_same {
            return Ok(now);
        }
        Err(ToolError::execution(format!(
            "`{}` was changed by someone else after this call was planned; nothing was changed; read it again",
            change.place.display()
        )))
    }

    fn write_one(&self, write: &Write) -> Result<(), ToolError> {
        let Write { change, new, .. } = write;
        let fail = |error| self.explained(&change.place, error);
        let Some(bytes) = new else { return self.workspace.remove(&change.place).map_err(fail) };
        self.workspace.write_as(&change.place, bytes, change.executable).map_err(fail)?;
        let stored = self.workspace.read(&change.place, bytes.len() as u64).map_err(fail)?;
        if stored == *bytes {
            return Ok(());
        }
        Err(ToolError::execution(format!(
            "`{}` was written and does not hold what was written; something else writes to it",
            change.place.display()
        )))
    }

    /// Brings back what files held, last first; names those for which that failed.
    fn undo(&self, writes: &[Write]) -> Vec<String> {
        let mut failed = Vec::new();
        for Write { change, old, new } in writes.iter().rev() {
            let now = self.workspace.read(&change.place, u64::from(u32::MAX)).ok();
            let undone = match (old, now) {
                (old, now) if *old == now => Ok(()),
                (Some(old), _) => self.workspace.write(&change.place, old).map(|_| ()),
                // Only what this call wrote is taken away.
                (None, now) if *new == now => self.workspace.remove(&change.place),
                (None, _) => Ok(()),
            };
            if undone.is_err() {
                failed.push(format!("`{}`", change.place.display()));
            }
        }
        failed
    }
}

/// A text file in the encoding of another, or in UTF-8.
pub fn like(before: Option<&Before>, text: String) -> TextFile {
    TextFile { text, encoding: before.map_or(Encoding::Utf8, |before| before.file.encoding) }
}
