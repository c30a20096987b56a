//! DOCX and ODT: zip archives with XML, as text with headings, lists and tables.

mod page;

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{Cursor, Read};

use quick_xml::Reader;
use quick_xml::events::{BytesRef, BytesStart, Event};
use stepwell_tool_runtime::counted;
use zip::ZipArchive;

use self::page::Page;
use super::Document;

/// Bytes of one part of an archive once it is unpacked; what promises more is no document but an attack.
const LARGEST_PART: u64 = 32 * 1024 * 1024;

type Archive<'a> = ZipArchive<Cursor<&'a [u8]>>;
/// Levels of headings by the names of styles.
type Headings = HashMap<String, usize>;

/// The text of a document, or what is wrong with it.
pub fn text(bytes: &[u8]) -> Result<Document, String> {
    let mut archive = ZipArchive::new(Cursor::new(bytes))
        .map_err(|error| format!("it is damaged, or no archive at all ({error})"))?;
    let mut page = Page::default();
    let kind = if archive.index_for_name("word/document.xml").is_some() {
        let headings = match part(&mut archive, "word/styles.xml")? {
            Some(styles) => headings(&styles)?,
            None => Headings::new(),
        };
        for name in ["word/document.xml", "word/footnotes.xml", "word/endnotes.xml"] {
            if let Some(xml) = part(&mut archive, name)? {
                read_xml(&xml, |event| docx(&mut page, &headings, event))?;
            }
        }
        "DOCX document"
    } else if let Some(xml) = part(&mut archive, "content.xml")? {
        read_xml(&xml, |event| odt(&mut page, event))?;
        "ODT document"
    } else {
        return Err("the archive holds neither `word/document.xml` nor `content.xml`".to_owned());
    };
    let pictures = match page.pictures {
        0 => String::new(),
        count => format!(" with {} that cannot be shown", counted(count, "picture")),
    };
    let (text, is_whole) = page.finish();
    let cut = if is_whole { "" } else { "; only its beginning is read, the rest is too large" };
    Ok(Document { text, note: format!("{kind}{pictures}, as text{cut}"), images: Vec::new() })
}

/// One part of the archive, unpacked within bounds; nothing if there is none.
fn part(archive: &mut Archive<'_>, name: &str) -> Result<Option<Vec<u8>>, String> {
    let Some(index) = archive.index_for_name(name) else { return Ok(None) };
    let unreadable = |problem: String| format!("its part `{name}` cannot be unpacked ({problem})");
    let file = archive.by_index(index).map_err(|error| unreadable(error.to_string()))?;
    let mut content = Vec::new();
    file.take(LARGEST_PART + 1).read_to_end(&mut content).map_err(|error| unreadable(error.to_string()))?;
    if content.len() as u64 > LARGEST_PART {
        return Err(unreadable(format!("it is larger than {LARGEST_PART} bytes")));
    }
    Ok(Some(content))
}

/// What happens in an XML file, by names without their prefixes.
enum Piece<'a> {
    Start(&'a str, &'a BytesStart<'a>),
    End(&'a str),
    Text(Cow<'a, str>),
}

/// Goes through a part once. Entities other than XML's own are passed over: nothing is ever looked up.
fn read_xml(xml: &[u8], mut take: impl FnMut(Piece<'_>)) -> Result<(), String> {
    let xml = String::from_utf8_lossy(xml);
    let mut reader = Reader::from_str(&xml);
    loop {
        let event = reader.read_event().map_err(|error| format!("its XML is damaged ({error})"))?;
        match event {
            Event::Start(start) => take(Piece::Start(start.local_name().as_ref(), &start)),
            Event::Empty(start) => {
                take(Piece::Start(start.local_name().as_ref(), &start));
                take(Piece::End(start.local_name().as_ref()));
            }
            Event::End(end) => take(Piece::End(end.local_name().as_ref())),
            Event::Text(text) => take(Piece::Text(Cow::Borrowed(&text))),
            Event::CData(text) => take(Piece::Text(Cow::Borrowed(&text))),
            Event::GeneralRef(reference) => take(Piece::Text(resolved(&reference))),
            Event::Eof => return Ok(()),
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
        }
    }
}

fn resolved(reference: &BytesRef<'_>) -> Cow<'static, str> {
    if let Ok(Some(character)) = reference.resolve_char_ref() {
        return Cow::Owned(character.to_string());
    }
    Cow::Borrowed(match &**reference {
        "lt" => "<",
        "gt" => ">",
        "amp" => "&",
        "apos" => "'",
        "quot" => "\"",
        _ => "",
    })
}

/// An attribute by its name without the prefix.
fn attribute(start: &BytesStart<'_>, name: &str) -> Option<String> {
    let found = start.attributes().flatten().find(|found| found.key.local_name().as_ref() == name)?;
    // Only what a description may hold; names and numbers have no entities.
    Some(found.value.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&"))
}

/// Styles that are headings: by their names in English, which every translation of Word keeps.
fn headings(styles: &[u8]) -> Result<Headings, String> {
    let mut headings = Headings::new();
    let mut style = None;
    read_xml(styles, |piece| {
        let Piece::Start(name, start) = piece else { return };
        match name {
            "style" => style = attribute(start, "styleId"),
            "name" => {
                let named = attribute(start, "val").unwrap_or_default().to_ascii_lowercase();
                let level = match named.strip_prefix("heading ") {
                    Some(level) => level.trim().parse().ok(),
                    None => (named == "title").then_some(1),
                };
                if let (Some(style), Some(level)) = (&style, level) {
                    headings.insert(style.clone(), level);
                }
            }
            _ => {}
        }
    })?;
    Ok(headings)
}

fn docx(page: &mut Page, headings: &Headings, piece: Piece<'_>) {
    match piece {
        Piece::Start(name, start) => match name {
            // The same content once more for old programs, and what was deleted.
            "Fallback" | "del" => page.hide(),
            "p" => page.begin_paragraph(),
            "pStyle" => {
                let style = attribute(start, "val").unwrap_or_default();
                let by_name = || style.strip_prefix("Heading").and_then(|level| level.parse().ok());
                if let Some(level) = headings.get(&style).copied().or_else(by_name) {
                    page.heading(level);
                }
            }
            "numPr" => page.item(0),
            "ilvl" => page.item(attribute(start, "val").and_then(|level| level.parse().ok()).unwrap_or(0)),
            "r" => page.in_run += 1,
            "t" => page.in_text += 1,
            "tab" if page.in_run > 0 => page.push("\t"),
            "br" | "cr" => page.push("\n"),
            "noBreakHyphen" => page.push("-"),
            "docPr" => page.picture(&attribute(start, "descr").unwrap_or_default()),
            "footnoteReference" | "endnoteReference" => {
                page.push(&format!("[^{}]", attribute(start, "id").unwrap_or_default()));
            }
            "footnote" | "endnote" => page.note(&attribute(start, "id").unwrap_or_default()),
            "tbl" => page.begin_table(),
            "tr" => page.begin_row(),
            "tc" => page.begin_cell(),
            _ => {}
        },
        Piece::End(name) => match name {
            "Fallback" | "del" => page.show(),
            "p" => page.end_paragraph(),
            "r" => page.in_run = page.in_run.saturating_sub(1),
            "t" => page.in_text = page.in_text.saturating_sub(1),
            "tbl" => page.end_table(),
            "tr" => page.end_row(),
            _ => {}
        },
        Piece::Text(text) if page.in_text > 0 => page.push(&text),
        Piece::Text(_) => {}
    }
}

fn odt(page: &mut Page, piece: Piece<'_>) {
    match piece {
        Piece::Start(name, start) => {
            let number = |name: &str| attribute(start, name).and_then(|value| value.parse::<usize>().ok());
            match name {
                "tracked-changes" | "annotation" => page.hide(),
                "h" => {
                    page.begin_paragraph();
                    page.heading(number("outline-level").unwrap_or(1));
                }
                "p" => {
                    page.begin_paragraph();
                    if let Some(level) = page.lists.checked_sub(1) {
                        page.item(level);
                    }
                }
                "list" => page.lists += 1,
                "s" => page.push(&" ".repeat(number("c").unwrap_or(1).min(200))),
                "tab" => page.push("\t"),
                "line-break" => page.push("\n"),
                "image" => page.picture(""),
                "table" => page.begin_table(),
                "table-row" => page.begin_row(),
                "table-cell" | "covered-table-cell" => page.begin_cell(),
                _ => {}
            }
        }
        Piece::End(name) => match name {
            "tracked-changes" | "annotation" => page.show(),
            "h" | "p" => page.end_paragraph(),
            "list" => page.lists = page.lists.saturating_sub(1),
            "table" => page.end_table(),
            "table-row" => page.end_row(),
            _ => {}
        },
        Piece::Text(text) => page.push(&text.replace(['\n', '\r', '\t'], " ")),
    }
}
