//! The command that runs tests of a framework, with the reporter that a program can read.

use std::path::{Path, PathBuf};

use stepwell_tool_runtime::ToolError;
use stepwell_workspace::process::find_program;

use super::detect::build_folder;
use super::framework::Framework;
use super::last_failures::FailedId;
use super::report_folder::ReportFolder;

const UNITTEST_REPORT: &str = include_str!("unittest_report.py");
const NODE_REPORT: &str = include_str!("node_report.mjs");
/// Makes nextest write JUnit.
const NEXTEST_CONFIG: &str = "[profile.default.junit]\npath = ";

/// Which tests of a framework are run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selection {
    /// Those of a path, or all.
    Path(Option<PathBuf>),
    /// Files, folders, packages or crates, as the framework takes them.
    Parts(Vec<String>),
    Failed(Vec<FailedId>),
}

/// What to run.
#[derive(Clone, Debug)]
pub struct TestRequest {
    pub framework: Framework,
    pub folder: PathBuf,
    pub selection: Selection,
    pub pattern: Option<String>,
    /// Further words for the runner.
    pub args: Vec<String>,
}

/// A command in words, without the files of its report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Words {
    pub program: String,
    pub arguments: Vec<String>,
}

impl Words {
    fn new(program: impl Into<String>, arguments: &[&str]) -> Self {
        Self { program: program.into(), arguments: arguments.iter().map(|word| (*word).to_owned()).collect() }
    }

    fn add(mut self, words: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.arguments.extend(words.into_iter().map(Into::into));
        self
    }

    /// As it is typed in a terminal.
    pub fn line(&self) -> String {
        let words = std::iter::once(&self.program).chain(&self.arguments);
        words.map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
    }
}

/// A word as a shell takes it.
pub fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:=@%+,".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

impl TestRequest {
    /// The words that choose the tests: what a person would type.
    pub fn words(&self, root: &Path) -> Result<Words, ToolError> {
        let runner = self.runner(root)?;
        Ok(self.chosen(runner)?.add(self.args.iter().cloned()))
    }

    /// The runner without any choice.
    fn runner(&self, root: &Path) -> Result<Words, ToolError> {
        let script = |name: &str| {
            let found =
                self.folder.ancestors().take_while(|folder| folder.starts_with(root)).find_map(|folder| {
                    let path = folder.join("node_modules/.bin").join(name);
                    path.exists().then_some(path)
                });
            let found = found.or_else(|| find_program(name, &self.folder));
            found.map(|path| shown(&path, &self.folder)).ok_or_else(|| {
                ToolError::validation(format!(
                    "`{name}` is not installed here; install the project's packages first"
                ))
            })
        };
        Ok(match self.framework {
            Framework::Pytest => Words::new(self.python(root), &["-m", "pytest"]),
            Framework::Unittest => Words::new(self.python(root), &["-m", "unittest"]),
            Framework::Cargo => Words::new("cargo", &["test", "--no-fail-fast"]),
            Framework::Nextest => Words::new("cargo", &["nextest", "run", "--no-fail-fast"]),
            Framework::GoTest => Words::new("go", &["test"]),
            Framework::Jest => Words::new(script("jest")?, &["--ci"]),
            Framework::Vitest => Words::new(script("vitest")?, &["run"]),
            Framework::Mocha => Words::new(script("mocha")?, &[]),
            Framework::Node => Words::new("node", &["--test"]),
            Framework::Ctest => {
                let build = build_folder(&self.folder).ok_or_else(|| {
                    ToolError::validation("there is no build with tests; configure and build it first")
                })?;
                Words::new("ctest", &["--output-on-failure", "--test-dir", &shown(&build, &self.folder)])
            }
            Framework::Gtest => {
                let Selection::Path(Some(path)) = &self.selection else {
                    return Err(ToolError::parameter("give the binary of the tests as `path`"));
                };
                Words::new(path.display().to_string(), &[])
            }
            Framework::Maven => Words::new("mvn", &["--batch-mode", "test"]),
            Framework::Gradle if self.folder.join("gradlew").is_file() => {
                Words::new("./gradlew", &["--console=plain", "test"])
            }
            Framework::Gradle => Words::new("gradle", &["--console=plain", "test"]),
        })
    }

    /// The interpreter of the project, or that of the machine.
    fn python(&self, root: &Path) -> String {
        let own = self.folder.ancestors().take_while(|folder| folder.starts_with(root)).find_map(|folder| {
            let names = [".venv/bin/python", "venv/bin/python", "env/bin/python"];
            names.iter().map(|name| folder.join(name)).find(|path| path.exists())
        });
        own.map_or_else(|| "python3".to_owned(), |path| shown(&path, &self.folder))
    }

    fn chosen(&self, words: Words) -> Result<Words, ToolError> {
        let words = match &self.selection {
            Selection::Failed(failed) => return Ok(self.failed(words, failed)),
            Selection::Parts(parts) => self.parts(words, parts),
            Selection::Path(None) => self.everything(words),
            Selection::Path(Some(path)) => self.below(words, path)?,
        };
        let Some(pattern) = &self.pattern else { return Ok(words) };
        let flag = match self.framework {
            Framework::Cargo | Framework::Nextest => return Ok(words.add([pattern.clone()])),
            Framework::Node => return Ok(words.before_files("--test-name-pattern", pattern)),
            Framework::Gtest => return Ok(words.add([format!("--gtest_filter=*{pattern}*")])),
            Framework::Maven => return Ok(words.add([format!("-Dtest={pattern}")])),
            Framework::Pytest | Framework::Unittest => "-k",
            Framework::GoTest => "-run",
            Framework::Jest | Framework::Vitest => "-t",
            Framework::Mocha => "--grep",
            Framework::Ctest => "-R",
            Framework::Gradle => "--tests",
        };
        Ok(words.add([flag.to_owned(), pattern.clone()]))
    }

    fn everything(&self, words: Words) -> Words {
        match self.framework {
            Framework::GoTest => words.add(["./..."]),
            Framework::Unittest => words.add(["discover"]),
            Framework::Cargo | Framework::Nextest if is_workspace(&self.folder) => words.add(["--workspace"]),
            _ => words,
        }
    }

    fn below(&self, words: Words, path: &Path) -> Result<Words, ToolError> {
        if path == self.folder || self.framework == Framework::Gtest {
            return Ok(self.everything(words));
        }
        let name = shown(path, &self.folder);
        let is_file = path.is_file();
        Ok(match self.framework {
            Framework::GoTest if is_file => words.add([format!("./{}", parent_of(&name))]),
            Framework::GoTest => words.add([format!("./{name}/...")]),
            Framework::Unittest if is_file => words.add([name.trim_end_matches(".py").replace('/', ".")]),
            Framework::Unittest => words.add(["discover", "-s", &name, "-t", "."]),
            // A file below `tests/` is a binary of its own; other files belong to their crate.
            Framework::Cargo | Framework::Nextest => {
                let parts: Vec<&str> = name.split('/').collect();
                match parts.as_slice() {
                    ["tests", file] if is_file => words.add(["--test", file.trim_end_matches(".rs")]),
                    _ => self.everything(words),
                }
            }
            Framework::Node if !is_file => {
                return Err(ToolError::parameter(
                    "`node --test` finds tests below the package; give a file, or leave `path` out",
                ));
            }
            Framework::Mocha if !is_file => words.add(["--recursive".to_owned(), name]),
            Framework::Maven | Framework::Gradle if is_file => {
                let class =
                    path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
                match self.framework {
                    Framework::Maven => words.add([format!("-Dtest={class}")]),
                    _ => words.add(["--tests".to_owned(), format!("*{class}")]),
                }
            }
            Framework::Ctest | Framework::Maven | Framework::Gradle => words,
            _ => words.add([name]),
        })
    }

    fn parts(&self, words: Words, parts: &[String]) -> Words {
        match self.framework {
            Framework::Cargo | Framework::Nextest => {
                words.add(parts.iter().flat_map(|name| ["-p".to_owned(), name.clone()]))
            }
            Framework::GoTest => words.add(parts.iter().map(|folder| format!("./{folder}"))),
            Framework::Unittest => {
                words.add(parts.iter().map(|file| file.trim_end_matches(".py").replace('/', ".")))
            }
            Framework::Maven => words.add([format!("-Dtest={}", parts.join(","))]),
            Framework::Gradle => {
                words.add(parts.iter().flat_map(|name| ["--tests".to_owned(), format!("*{name}")]))
            }
            _ => words.add(parts.iter().cloned()),
        }
    }

    /// Runs exactly these tests again.
    fn failed(&self, words: Words, failed: &[FailedId]) -> Words {
        let ids = || failed.iter().map(|test| test.id.clone());
        let groups = || {
            let mut groups: Vec<String> = failed.iter().filter_map(|test| test.group.clone()).collect();
            groups.sort();
            groups.dedup();
            groups
        };
        let files = || groups().into_iter().map(|file| shown(Path::new(&file), &self.folder));
        // The names of suites and tests as they stand in a full title.
        let titles = || {
            let titles = ids().map(|id| regex::escape(&id.replace(" > ", " ")));
            format!("^({})$", titles.collect::<Vec<_>>().join("|"))
        };
        match self.framework {
            // The parameters of a subtest are no part of its name.
            Framework::Unittest => {
                let mut names: Vec<String> =
                    ids().map(|id| id.split([' ', '(']).next().unwrap_or_default().to_owned()).collect();
                names.dedup();
                words.add(names)
            }
            Framework::Pytest => words.add(ids()),
            Framework::Cargo => words.add(["--", "--exact"]).add(ids()),
            Framework::Nextest => {
                let names = ids().map(|id| format!("test(={id})"));
                words.add(["-E".to_owned(), names.collect::<Vec<_>>().join(" or ")])
            }
            Framework::GoTest => {
                // Only the outermost name can be one of several.
                let mut names: Vec<String> =
                    ids().map(|id| regex::escape(id.split('/').next().unwrap_or_default())).collect();
                names.sort();
                names.dedup();
                words.add(groups()).add(["-run".to_owned(), format!("^({})$", names.join("|"))])
            }
            Framework::Jest | Framework::Vitest => words.add(files()).add(["-t".to_owned(), titles()]),
            Framework::Mocha => words.add(files()).add(["--grep".to_owned(), titles()]),
            Framework::Node => {
                let own = ids().map(|id| regex::escape(id.rsplit(" > ").next().unwrap_or_default()));
                let flags: Vec<String> = own.map(|name| format!("--test-name-pattern=^{name}$")).collect();
                words.add(flags).add(files())
            }
            Framework::Ctest => {
                let names = ids().map(|id| regex::escape(&id));
                words.add(["-R".to_owned(), format!("^({})$", names.collect::<Vec<_>>().join("|"))])
            }
            Framework::Gtest => {
                words.add([format!("--gtest_filter={}", ids().collect::<Vec<_>>().join(":"))])
            }
            Framework::Maven => {
                let names = ids().map(|id| {
                    id.rsplit_once('.').map_or(id.clone(), |(class, name)| format!("{class}#{name}"))
                });
                words.add([format!("-Dtest={}", names.collect::<Vec<_>>().join(","))])
            }
            Framework::Gradle => words.add(ids().flat_map(|id| ["--tests".to_owned(), id])),
        }
    }

    /// The command of one failing test, for `debug_failure`; `None` where no debugger knows the framework.
    pub fn debug_line(&self, test: FailedId, root: &Path) -> Option<String> {
        if matches!(self.framework, Framework::Ctest | Framework::Maven | Framework::Gradle) {
            return None;
        }
        // One that could not be run has no name of its own.
        let mut one =
            Self { selection: Selection::Failed(vec![test.clone()]), args: Vec::new(), ..self.clone() };
        let mut words = match self.framework {
            Framework::Gtest => {
                let words = self.runner(root).ok()?;
                one.failed(words, &[test])
            }
            Framework::Nextest => {
                one.framework = Framework::Cargo;
                one.words(root).ok()?
            }
            _ => one.words(root).ok()?,
        };
        words.arguments.retain(|word| word != "--no-fail-fast" && word != "--ci");
        Some(words.line())
    }

    /// Adds what makes the runner write its report, and the name of that file.
    pub fn reporting(
        &self,
        mut words: Words,
        folder: &ReportFolder,
    ) -> Result<(Words, Option<&'static str>), ToolError> {
        let at_front = |words: &mut Words, at: usize, more: Vec<String>| {
            words.arguments.splice(at..at, more);
        };
        let report = match self.framework {
            Framework::Pytest => {
                let more = [
                    format!("--junitxml={}", folder.inside("junit.xml")),
                    "-ojunit_family=xunit1".to_owned(),
                    "-ojunit_logging=all".to_owned(),
                    "-ojunit_log_passing_tests=false".to_owned(),
                    "--continue-on-collection-errors".to_owned(),
                ];
                at_front(&mut words, 2, more.to_vec());
                "junit.xml"
            }
            Framework::Unittest => {
                let script = folder.put("unittest_report.py", UNITTEST_REPORT)?;
                // Instead of `-m unittest`.
                words.arguments.splice(0..2, [script, folder.inside("report.jsonl")]);
                words.arguments.push("-b".to_owned());
                "report.jsonl"
            }
            Framework::Nextest => {
                let config = format!("{NEXTEST_CONFIG}\"{}\"\n", folder.inside("junit.xml"));
                let config = folder.put("nextest.toml", &config)?;
                at_front(&mut words, 2, vec!["--tool-config-file".to_owned(), format!("stepwell:{config}")]);
                "junit.xml"
            }
            Framework::GoTest => {
                at_front(&mut words, 1, vec!["-json".to_owned()]);
                return Ok((words, None));
            }
            Framework::Jest => {
                let more = ["--json".to_owned(), format!("--outputFile={}", folder.inside("report.json"))];
                at_front(&mut words, 0, more.to_vec());
                words.arguments.push("--testLocationInResults".to_owned());
                "report.json"
            }
            Framework::Vitest => {
                let more = ["--reporter=default", "--reporter=json"].map(str::to_owned);
                at_front(&mut words, 1, more.to_vec());
                words.arguments.push(format!("--outputFile.json={}", folder.inside("report.json")));
                "report.json"
            }
            Framework::Mocha => {
                let file = format!("output={}", folder.inside("report.json"));
                at_front(
                    &mut words,
                    0,
                    ["--reporter", "json", "--reporter-option", &file].map(str::to_owned).to_vec(),
                );
                "report.json"
            }
            Framework::Node => {
                let script = folder.put("node_report.mjs", NODE_REPORT)?;
                let more = [
                    "--test-reporter=spec".to_owned(),
                    "--test-reporter-destination=stdout".to_owned(),
                    format!("--test-reporter={script}"),
                    format!("--test-reporter-destination={}", folder.inside("report.jsonl")),
                ];
                at_front(&mut words, 1, more.to_vec());
                "report.jsonl"
            }
            Framework::Ctest => {
                words.arguments.extend(["--output-junit".to_owned(), folder.inside("junit.xml")]);
                "junit.xml"
            }
            Framework::Gtest => {
                words.arguments.push(format!("--gtest_output=xml:{}", folder.inside("junit.xml")));
                "junit.xml"
            }
            // Their reports lie in the project.
            Framework::Cargo | Framework::Maven | Framework::Gradle => return Ok((words, None)),
        };
        Ok((words, Some(report)))
    }
}

impl Words {
    /// Puts a flag right behind the first word, before names of files.
    fn before_files(mut self, flag: &str, value: &str) -> Self {
        self.arguments.insert(1, format!("{flag}={value}"));
        self
    }
}

/// A path as a command in the folder names it.
fn shown(path: &Path, folder: &Path) -> String {
    match path.strip_prefix(folder) {
        Ok(below) if below.as_os_str().is_empty() => ".".to_owned(),
        Ok(below) => below.display().to_string(),
        Err(_) => path.display().to_string(),
    }
}

fn parent_of(name: &str) -> &str {
    name.rsplit_once('/').map_or(".", |(folder, _)| folder)
}

fn is_workspace(folder: &Path) -> bool {
    let text = stepwell_workspace::files::read_if_exists(&folder.join("Cargo.toml")).ok().flatten();
    text.is_some_and(|text| text.lines().any(|line| line.trim() == "[workspace]"))
}
