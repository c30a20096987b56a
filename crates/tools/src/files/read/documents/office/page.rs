//! Lines that are made of paragraphs, headings, list items and tables.

/// Bytes of text that are made of one document.
const LARGEST_TEXT: usize = 16 * 1024 * 1024;
/// Tables in tables; deeper ones are passed over.
const DEEPEST: usize = 16;

/// The text so far, and where in the document it stands.
#[derive(Default)]
pub struct Page {
    text: String,
    is_full: bool,
    paragraphs: Vec<Paragraph>,
    tables: Vec<Table>,
    /// Tables that are not read because they lie too deep.
    passed_over: usize,
    hidden: usize,
    note: Option<String>,
    pub in_run: usize,
    pub in_text: usize,
    pub lists: usize,
    pub pictures: u64,
}

#[derive(Default)]
struct Paragraph {
    text: String,
    heading: Option<usize>,
    item: Option<usize>,
}

#[derive(Default)]
struct Table {
    cells: Vec<String>,
    rows: usize,
}

impl Page {
    /// The text, and whether all of it was taken.
    pub fn finish(mut self) -> (String, bool) {
        while !self.paragraphs.is_empty() {
            self.end_paragraph();
        }
        (self.text, !self.is_full)
    }

    pub fn hide(&mut self) {
        self.hidden += 1;
    }

    pub fn show(&mut self) {
        self.hidden = self.hidden.saturating_sub(1);
    }

    pub fn push(&mut self, text: &str) {
        if self.hidden > 0 || self.is_full {
            return;
        }
        if let Some(paragraph) = self.paragraphs.last_mut() {
            paragraph.text.push_str(text);
        }
    }

    pub fn begin_paragraph(&mut self) {
        self.paragraphs.push(Paragraph::default());
    }

    pub fn heading(&mut self, level: usize) {
        if let Some(paragraph) = self.paragraphs.last_mut() {
            paragraph.heading = Some(level.clamp(1, 6));
        }
    }

    pub fn item(&mut self, level: usize) {
        if let Some(paragraph) = self.paragraphs.last_mut() {
            paragraph.item = Some(level.min(8));
        }
    }

    /// A foot note begins; its number stands before its first paragraph.
    pub fn note(&mut self, number: &str) {
        self.note = Some(format!("[^{number}]: "));
    }

    pub fn picture(&mut self, description: &str) {
        if self.hidden > 0 {
            return;
        }
        self.pictures += 1;
        match description.trim() {
            "" => self.push("[picture]"),
            described => self.push(&format!("[picture: {described}]")),
        }
    }

    pub fn end_paragraph(&mut self) {
        let Some(paragraph) = self.paragraphs.pop() else { return };
        let text = paragraph.text.trim_end();
        if text.trim().is_empty() {
            return;
        }
        if let Some(cell) = self.tables.last_mut().and_then(|table| table.cells.last_mut()) {
            if !cell.is_empty() {
                cell.push(' ');
            }
            cell.push_str(&text.replace('\n', " "));
            return;
        }
        let start = match (self.note.take(), paragraph.heading, paragraph.item) {
            (Some(note), _, _) => note,
            (None, Some(level), _) => format!("{} ", "#".repeat(level)),
            (None, None, Some(level)) => format!("{}- ", "  ".repeat(level)),
            (None, None, None) => String::new(),
        };
        if paragraph.heading.is_some() && !self.text.is_empty() {
            self.line("");
        }
        self.line(&format!("{start}{text}"));
    }

    pub fn begin_table(&mut self) {
        if self.tables.len() >= DEEPEST {
            self.passed_over += 1;
            return;
        }
        self.tables.push(Table::default());
    }

    pub fn begin_row(&mut self) {
        if let (0, Some(table)) = (self.passed_over, self.tables.last_mut()) {
            table.cells.clear();
        }
    }

    pub fn begin_cell(&mut self) {
        if let (0, Some(table)) = (self.passed_over, self.tables.last_mut()) {
            table.cells.push(String::new());
        }
    }

    pub fn end_row(&mut self) {
        if self.passed_over > 0 {
            return;
        }
        let Some(table) = self.tables.last_mut() else { return };
        let cells = std::mem::take(&mut table.cells);
        table.rows += 1;
        let is_first = table.rows == 1;
        // A table in a cell becomes that cell's text.
        let outer = self.tables.len().checked_sub(2).and_then(|outer| self.tables.get_mut(outer));
        if let Some(cell) = outer.and_then(|outer| outer.cells.last_mut()) {
            if !cell.is_empty() {
                cell.push_str("; ");
            }
            cell.push_str(&cells.join(", "));
            return;
        }
        let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
        self.line(&format!("| {} |", cells.join(" | ")));
        if is_first {
            self.line(&format!("|{}", " --- |".repeat(cells.len().max(1))));
        }
    }

    pub fn end_table(&mut self) {
        if self.passed_over > 0 {
            self.passed_over -= 1;
            return;
        }
        self.tables.pop();
        if self.tables.is_empty() {
            self.line("");
        }
    }

    fn line(&mut self, line: &str) {
        if self.is_full || self.text.len() + line.len() > LARGEST_TEXT {
            self.is_full = true;
            return;
        }
        self.text.push_str(line);
        self.text.push('\n');
    }
}
