//! Reads the reports that sanitizers print: AddressSanitizer, LeakSanitizer, MemorySanitizer, ThreadSanitizer and
//! UndefinedBehaviorSanitizer of gcc and clang.

use super::program_output::place_at;
use super::{Exception, FailureReport, SourceLocation};

/// Sections of a report that are told, such as where memory was allocated.
const MOST_SECTIONS: usize = 4;

/// What a sanitizer found.
#[derive(Debug)]
pub(super) struct SanitizerReport {
    exception: Exception,
    place: Option<SourceLocation>,
    notes: Vec<String>,
    /// Whether the program is ended at the fault itself, where a debugger can look at it.
    pub ends_there: bool,
}

impl FailureReport {
    /// Adds what a sanitizer printed where nothing else says what failed.
    pub(super) fn add_sanitizer(&mut self, told: SanitizerReport) {
        if self.exception.is_some() {
            return;
        }
        self.exception = Some(told.exception);
        if self.place.is_none() {
            self.place = told.place;
        }
        self.notes.extend(told.notes);
        // Tables of the sanitizer's own memory push what the program printed out of sight.
        if let Some(at) = self.output.find("Shadow bytes around the buggy address") {
            self.output.truncate(at);
        }
        self.summary = self.sentence();
    }
}

/// Reads the first report of a program's output.
pub(super) fn read(output: &str) -> Option<SanitizerReport> {
    let lines: Vec<&str> = output.lines().collect();
    lines.iter().enumerate().find_map(|(at, line)| headed(line, &lines[at + 1..]).or_else(|| undefined(line)))
}

/// `==1==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x... at pc ...` and the lines below it.
fn headed(line: &str, below: &[&str]) -> Option<SanitizerReport> {
    let (_, told) = line.split_once("ERROR: ").or_else(|| line.split_once("WARNING: "))?;
    let (sanitizer, told) = told.split_once(": ")?;
    let is_sanitizer = sanitizer.ends_with("Sanitizer") && sanitizer.chars().all(char::is_alphanumeric);
    if !is_sanitizer {
        return None;
    }
    let what = told.split(" on ").next().unwrap_or(told).split(" (").next().unwrap_or(told).trim();
    let end = below.iter().position(|line| line.starts_with("SUMMARY: ")).unwrap_or(below.len());
    let below = &below[..end];
    let access = below.first().map(|line| without_addresses(line)).filter(|line| line.contains(" of size "));
    let is_section = |line: &str| line.trim_end().ends_with(':') && !line.trim_start().starts_with('#');
    let mut notes = Vec::new();
    for (at, line) in below.iter().enumerate() {
        if line.contains(" is located ") {
            let region = without_addresses(line);
            let region = region.split_once("is located ").map_or(region.as_str(), |(_, region)| region);
            notes.push(format!("the sanitizer says: {region}"));
        } else if at > 0 && is_section(line) && notes.len() < MOST_SECTIONS {
            let frames = below[at + 1..].iter().take_while(|line| line.trim_start().starts_with('#'));
            if let Some(place) = { frames }.find_map(|line| place_in(line)) {
                let section = without_addresses(line);
                notes.push(format!(
                    "the sanitizer says: {} {}:{}",
                    section.trim_end_matches(" here:").trim_end_matches(':'),
                    std::path::Path::new(&place.file).file_name().unwrap_or_default().to_string_lossy(),
                    place.line
                ));
            }
        }
    }
    Some(SanitizerReport {
        exception: Exception { kind: format!("{sanitizer}: {what}"), message: access.unwrap_or_default() },
        place: below.iter().find_map(|line| place_in(line)),
        notes,
        ends_there: matches!(sanitizer, "AddressSanitizer" | "MemorySanitizer"),
    })
}

/// `a.c:6:17: runtime error: signed integer overflow: ...`.
fn undefined(line: &str) -> Option<SanitizerReport> {
    let (place, message) = line.split_once(": runtime error: ")?;
    let mut parts = place.rsplitn(3, ':').skip(1);
    let (number, file) = (parts.next()?.parse().ok()?, parts.next()?);
    Some(SanitizerReport {
        exception: Exception {
            kind: "UndefinedBehaviorSanitizer".to_owned(),
            message: message.trim().to_owned(),
        },
        place: place_at(file, number, ""),
        notes: Vec::new(),
        ends_there: true,
    })
}

/// `    #0 0x5631 in fill /me/asan.c:6:19`, `    #1 main race.c:9 (race+0x12)` with a whole path.
fn place_in(line: &str) -> Option<SourceLocation> {
    let told = line.trim_start().strip_prefix('#')?;
    let (_, told) = told.split_once(' ')?;
    let told = told.split_once(" in ").map_or(told, |(_, told)| told);
    let (function, place) = told.split_once(" /")?;
    let place = place.split(" (").next().unwrap_or(place).trim();
    let mut parts = place.split(':');
    let (file, number) = (parts.next()?, parts.next()?.parse().ok()?);
    // What the compiler brings is not the program's.
    let is_runtime = file.contains("libsanitizer") || file.contains("compiler-rt") || file.contains("/usr/");
    place_at(&format!("/{file}"), number, function.trim()).filter(|_| !is_runtime)
}

/// A line without the numbers that differ from run to run.
fn without_addresses(line: &str) -> String {
    let words = line.trim().split(' ').filter(|word| !word.starts_with("0x") && !word.starts_with("[0x"));
    words.collect::<Vec<_>>().join(" ").replace(" at thread", " in thread").replace(" at by ", " by ")
}

#[cfg(test)]
mod tests {
    use stepwell_workspace::files;

    use super::*;

    fn told(output: &str) -> String {
        let told = read(output).unwrap();
        let place = told.place.map(|place| format!("{} in {}", place.line, place.function));
        format!("{} | {:?} | {:?}", told.exception.headline(), place, told.notes)
    }

    #[test]
    fn each_sanitizer_is_understood() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.c");
        files::write_atomic(&file, "line\n".repeat(30).as_bytes(), files::Privacy::Shared).unwrap();
        let file = file.to_str().unwrap();
        assert_eq!(
            told(&format!(
                "x\n==7==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x6020 at pc 0x55 bp 0x7f sp 0x7f\nWRITE of size 4 at 0x6020 thread T0\n    #0 0x55 in fill {file}:6\n    #1 0x55 in main {file}:13\n\n0x6020 is located 0 bytes to the right of 16-byte region [0x6010,0x6020)\nallocated by thread T0 here:\n    #0 0x7f in __interceptor_malloc ../libsanitizer/asan.cpp:69\n    #1 0x55 in main {file}:12\n\nSUMMARY: AddressSanitizer: heap-buffer-overflow\n"
            )),
            "AddressSanitizer: heap-buffer-overflow: WRITE of size 4 in thread T0 | Some(\"6 in fill\") | [\"the sanitizer says: 0 bytes to the right of 16-byte region\", \"the sanitizer says: allocated by thread T0 a.c:12\"]"
        );
        assert_eq!(
            told(&format!(
                "==================\nWARNING: ThreadSanitizer: data race (pid=9)\n  Write of size 4 at 0x55 by thread T2:\n    #0 add {file}:9 (race+0x12)\n\n  Previous write of size 4 at 0x55 by thread T1:\n    #0 add {file}:8 (race+0x10)\n\nSUMMARY: ThreadSanitizer\n"
            )),
            "ThreadSanitizer: data race: Write of size 4 by thread T2: | Some(\"9 in add\") | [\"the sanitizer says: Previous write of size 4 by thread T1 a.c:8\"]"
        );
        assert_eq!(
            told(&format!("{file}:6:17: runtime error: signed integer overflow: 1 + 2\n")),
            "UndefinedBehaviorSanitizer: signed integer overflow: 1 + 2 | Some(\"6 in \") | []"
        );
        assert!(read("ERROR: no such file: a\nruntime error: no\nWARNING: Some: thing\n").is_none());
    }
}
