//! What servers answer, in the forms the protocol lets them choose from, as places in files.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::Value;
use stepwell_workspace::Workspace;
use url::Url;

use super::client::ServerError;
use super::documents;
use crate::facts::Position;
use crate::location::SourceLocation;
use crate::units::Units;

/// Places of one answer.
pub(crate) const MOST_PLACES: usize = 5000;

/// Files whose lines are kept at the same time.
const MOST_TEXTS: usize = 64;

/// Line and column from 0, the column in the units that were agreed on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
pub(crate) struct WirePosition {
    pub line: u32,
    pub character: u32,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
pub(crate) struct WireRange {
    pub start: WirePosition,
    pub end: WirePosition,
}

/// A `Location`, or a `LocationLink`.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum WireLocation {
    Plain {
        uri: String,
        range: WireRange,
    },
    #[serde(rename_all = "camelCase")]
    Link {
        target_uri: String,
        target_selection_range: WireRange,
    },
}

/// A function as a server shows it in a graph of calls.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CallItem {
    pub name: String,
    pub uri: String,
    pub selection_range: WireRange,
    /// As it came, which is how the server wants it back.
    #[serde(skip)]
    pub whole: Value,
}

/// The places of an answer, and how many of them the files do not have.
#[derive(Debug, Default)]
pub(crate) struct ReadLocations {
    pub places: Vec<SourceLocation>,
    pub missing: usize,
    pub is_cut: bool,
}

/// Reads places; keeps the text of each file it looks into.
pub(crate) struct LocationReader<'w> {
    workspace: &'w Workspace,
    units: Units,
    texts: HashMap<String, Option<Vec<String>>>,
}

impl<'w> LocationReader<'w> {
    pub(crate) fn new(workspace: &'w Workspace, units: Units) -> Self {
        Self { workspace, units, texts: HashMap::new() }
    }

    /// The places of an answer: nothing, one location, a list of them, or of links.
    pub(crate) fn places(&mut self, answer: Value) -> Result<ReadLocations, ServerError> {
        let list = match answer {
            Value::Null => Vec::new(),
            Value::Array(list) => list,
            one => vec![one],
        };
        let mut found = ReadLocations { is_cut: list.len() > MOST_PLACES, ..ReadLocations::default() };
        for one in list.into_iter().take(MOST_PLACES) {
            let location: WireLocation = serde_json::from_value(one)
                .map_err(|error| ServerError::Useless(format!("its answer names no place: {error}")))?;
            let (uri, range) = match location {
                WireLocation::Plain { uri, range } => (uri, range),
                WireLocation::Link { target_uri, target_selection_range } => {
                    (target_uri, target_selection_range)
                }
            };
            match self.place(&uri, range) {
                Some(place) => found.places.push(place),
                None => found.missing += 1,
            }
        }
        Ok(found)
    }

    /// A place; none where the file does not have it, as one that was deleted since.
    pub(crate) fn place(&mut self, uri: &str, range: WireRange) -> Option<SourceLocation> {
        let line_number = range.start.line.checked_add(1)?;
        let Some(path) = self.relative(uri) else {
            let file = Url::parse(uri).ok().and_then(|url| url.to_file_path().ok());
            let path = file.map_or_else(|| uri.to_owned(), |path| path.to_string_lossy().into_owned());
            // What lies outside is not read, so its columns stay as the server counts them.
            let at = Position { line: line_number, column: range.start.character.saturating_add(1) };
            return Some(SourceLocation { path, at, name: String::new(), site: None });
        };
        let workspace = self.workspace;
        if self.texts.len() >= MOST_TEXTS && !self.texts.contains_key(&path) {
            self.texts.clear();
        }
        let lines = self.texts.entry(path.clone()).or_insert_with(|| {
            let text = documents::text(workspace, &path).ok()?;
            Some(text.lines().map(str::to_owned).collect())
        });
        let line = lines.as_ref()?.get(range.start.line as usize)?;
        let column = self.units.column(line, range.start.character);
        let name = if range.start.line == range.end.line {
            let end = self.units.column(line, range.end.character);
            line.chars().skip(column as usize - 1).take(end.saturating_sub(column) as usize).collect()
        } else {
            String::new()
        };
        Some(SourceLocation { path, at: Position { line: line_number, column }, name, site: None })
    }

    /// The path within the workspace.
    fn relative(&self, uri: &str) -> Option<String> {
        let path = Url::parse(uri).ok()?.to_file_path().ok()?;
        Some(path.strip_prefix(self.workspace.root()).ok()?.to_str()?.to_owned())
    }
}

/// The functions of an answer.
pub(crate) fn items(answer: Value) -> Result<Vec<CallItem>, ServerError> {
    let Value::Array(list) = answer else { return Ok(Vec::new()) };
    list.into_iter().map(item).collect()
}

pub(crate) fn item(whole: Value) -> Result<CallItem, ServerError> {
    let read: Result<CallItem, _> = CallItem::deserialize(&whole);
    let item =
        read.map_err(|error| ServerError::Useless(format!("its answer names no function: {error}")))?;
    Ok(CallItem { whole, ..item })
}
