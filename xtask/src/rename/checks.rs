//! The checks that languages come with, run on a copy of a package.

use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use anyhow::{Context, bail};
use serde_json::Value;
use stepwell_code_intel::languages::Language;

/// Something a check complains about. Two are the same where file, line and rule are: messages name symbols.
#[derive(Clone, Debug)]
pub struct Problem {
    place: String,
    pub text: String,
}

impl Problem {
    /// Whether the check ends with it and says nothing of the rest.
    pub fn hides_others(&self) -> bool {
        self.text.starts_with("vet:")
            || self.text.contains("cannot find package")
            || self.text.starts_with("error")
            || self.place.contains(".rs:")
    }
}

impl PartialEq for Problem {
    fn eq(&self, other: &Self) -> bool {
        self.place == other.place
    }
}

impl Eq for Problem {}

impl Hash for Problem {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.place.hash(state);
    }
}

/// A copy of a package that can be checked.
pub struct Checker {
    language: Language,
    pub tree: PathBuf,
    scratch: PathBuf,
}

impl Checker {
    /// Copies a package so that its check finds what it needs.
    pub fn prepare(language: Language, package: &Path, scratch: &Path) -> anyhow::Result<Self> {
        let package = package.canonicalize()?;
        let name = package.file_name().context("a package without a name")?;
        let tree = match language {
            // Packages of Go lie beneath `src` by their import path.
            Language::Go => {
                let text = package.to_string_lossy().into_owned();
                let (_, path) = text.rsplit_once("/src/").context("no folder `src` above the package")?;
                scratch.join("go/src").join(path)
            }
            _ => scratch.join("tree").join(name),
        };
        copy_tree(&package, &tree)?;
        let checker = Self { language, tree, scratch: scratch.to_owned() };
        match language {
            Language::Rust => checker.detach_manifest()?,
            Language::TypeScript => checker.link_modules(&package)?,
            _ => {}
        }
        Ok(checker)
    }

    /// Runs the check.
    pub fn check(&self) -> anyhow::Result<Vec<Problem>> {
        match self.language {
            Language::Rust => {
                let target = self.scratch.parent().unwrap_or(&self.scratch).join("stepwell-rename-target");
                let output = self.run(
                    Command::new("cargo")
                        .args(["check", "--quiet", "--offline", "--message-format", "short"])
                        .env("CARGO_TARGET_DIR", target)
                        .env("RUSTFLAGS", "--cap-lints allow"),
                )?;
                problems("cargo check", &output, |line| line.contains(".rs:") && line.contains(" error"))
            }
            Language::Go => {
                let above = std::env::var("GOPATH").unwrap_or_else(|_| "/usr/share/gocode".to_owned());
                let path = format!("{}:{above}", self.scratch.join("go").display());
                let output = self.run(
                    Command::new("go").args(["vet", "./..."]).env("GO111MODULE", "off").env("GOPATH", path),
                )?;
                problems("go vet", &output, |line| line.contains(".go:"))
            }
            Language::Python => {
                let output = self.run(Command::new("pyright").arg("--outputjson"))?;
                let answer: Value = serde_json::from_slice(&output.stdout)
                    .with_context(|| String::from_utf8_lossy(&output.stderr).into_owned())?;
                let all = answer["generalDiagnostics"].as_array().cloned().unwrap_or_default();
                let errors = all.iter().filter(|one| one["severity"] == "error");
                Ok(errors.map(|one| self.pyright_problem(one)).collect())
            }
            Language::TypeScript => {
                let output =
                    self.run(Command::new("tsc").args(["--noEmit", "--pretty", "false", "--project", "."]))?;
                problems("tsc", &output, |line| line.contains("error TS"))
            }
            other => bail!("no check is known for {}", other.name()),
        }
    }

    fn run(&self, command: &mut Command) -> anyhow::Result<Output> {
        command
            .current_dir(&self.tree)
            .output()
            .with_context(|| format!("cannot run {}", command.get_program().to_string_lossy()))
    }

    fn pyright_problem(&self, one: &Value) -> Problem {
        let file = one["file"].as_str().unwrap_or_default();
        let file = file.strip_prefix(&*self.tree.to_string_lossy()).unwrap_or(file);
        let (line, rule) = (&one["range"]["start"]["line"], &one["rule"]);
        let message = one["message"].as_str().unwrap_or_default();
        Problem { place: format!("{file}:{line}:{rule}"), text: format!("{file}:{line}: {message}") }
    }

    /// Makes a crate its own workspace, without what only its tests need.
    fn detach_manifest(&self) -> anyhow::Result<()> {
        const LEFT_OUT: [&str; 6] =
            ["[[test]]", "[[bench]]", "[[example]]", "[dev-dependencies", "[profile", "[lints"];
        let path = self.tree.join("Cargo.toml");
        let manifest = std::fs::read_to_string(&path)?;
        let mut kept = String::new();
        let mut is_kept = true;
        for line in manifest.lines() {
            if line.starts_with('[') {
                let is_development = line.starts_with("[target.") && line.contains("dev-dependencies");
                is_kept = !is_development && !LEFT_OUT.iter().any(|section| line.starts_with(section));
            }
            if is_kept {
                kept.push_str(line);
                kept.push('\n');
            }
        }
        if !kept.lines().any(|line| line.trim() == "[workspace]") {
            kept.push_str("\n[workspace]\n");
        }
        std::fs::write(&path, kept)?;
        // Versions that the crate was published with need not be at hand.
        let lock = self.tree.join("Cargo.lock");
        if lock.exists() {
            std::fs::remove_file(lock)?;
        }
        for folder in ["tests", "benches", "examples", ".cargo"] {
            let folder = self.tree.join(folder);
            if folder.exists() {
                std::fs::remove_dir_all(folder)?;
            }
        }
        Ok(())
    }

    /// Lets the copy find the installed packages that the original finds.
    fn link_modules(&self, package: &Path) -> anyhow::Result<()> {
        let installed =
            package.ancestors().map(|folder| folder.join("node_modules")).find(|folder| folder.exists());
        if let (Some(installed), Some(above)) = (installed, self.tree.parent()) {
            let link = above.join("node_modules");
            if !link.exists() {
                std::os::unix::fs::symlink(installed, link)?;
            }
        }
        Ok(())
    }
}

/// The lines of a check's output that name a problem, by place and rule. A check that fails without one did not run.
fn problems(check: &str, output: &Output, is_problem: impl Fn(&str) -> bool) -> anyhow::Result<Vec<Problem>> {
    let text = [&*output.stdout, &*output.stderr].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    let lines = text.lines().filter(|line| is_problem(line));
    let found: Vec<Problem> =
        lines.map(|line| Problem { place: place_of(line), text: line.to_owned() }).collect();
    if found.is_empty() && !output.status.success() {
        bail!("{check} does not run: {text}");
    }
    Ok(found)
}

/// `file:line:column: error[E0425]: ...` and `file(line,column): error TS2304: ...` without the column and the message.
fn place_of(line: &str) -> String {
    let mut parts = line.splitn(4, [':', '(', ',', ')']);
    let (file, number) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let rule = line.split_whitespace().find(|word| word.starts_with("error[") || word.starts_with("TS"));
    format!("{file}:{number}:{}", rule.unwrap_or_default())
}

fn copy_tree(from: &Path, to: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        // Links are copied as what they lead to: packages of Debian link to each other.
        let about = std::fs::metadata(&source)?;
        let is_left_out = matches!(entry.file_name().to_str(), Some("node_modules" | ".git" | "target"));
        if is_left_out {
            continue;
        }
        if about.is_dir() {
            copy_tree(&source, &target)?;
        } else {
            std::fs::copy(&source, &target)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;
    use std::process::ExitStatus;

    use super::*;

    #[test]
    fn a_check_that_fails_without_a_problem_did_not_run() {
        let output = |code: i32, text: &str| Output {
            status: ExitStatus::from_raw(code << 8),
            stdout: Vec::new(),
            stderr: text.into(),
        };
        let is_problem = |line: &str| line.contains(".rs:") && line.contains(" error");
        let checked = |code, text| problems("cargo check", &output(code, text), is_problem);
        let missing = "error: no matching package named `a` found\nif this error is too confusing\n";
        assert!(checked(101, missing).is_err());
        assert_eq!(checked(101, "src/a.rs:1:2: error[E0425]: no `b`\n").unwrap().len(), 1);
        assert!(checked(0, "").unwrap().is_empty());
    }

    #[test]
    fn a_package_that_is_missing_hides_the_problems_of_others() {
        let of = |text: &str| Problem { place: place_of(text), text: text.to_owned() };
        assert!(of("remote.go:14:2: cannot find package \"example.com/a\" in any of:").hides_others());
        assert!(of("vet: ./a.go:1:2: undeclared name: b").hides_others());
        assert!(!of("./a_test.go:12:3: fmt.Println arg list ends with redundant newline").hides_others());
    }
}
