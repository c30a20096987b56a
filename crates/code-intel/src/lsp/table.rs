//! The language servers that are known by themselves, and those the person names.

use std::path::{Path, PathBuf};

use serde_json::Value;
use stepwell_workspace::process;

use crate::languages::{Language, LanguageServer};

/// How a server signals that it has loaded the project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadyBy {
    /// It answers questions whenever it is asked, and waits by itself for what it needs.
    Answering,
    /// By `$/progress` that comes to an end.
    Progress,
    /// By rust-analyzer's `experimental/serverStatus`.
    ServerStatus,
    /// By the `language/status` of Eclipse's server for Java.
    LanguageStatus,
}

/// A language server: its languages and how to start it.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerSpec {
    pub name: String,
    pub languages: Vec<Language>,
    /// A name on the search path, or a whole path.
    pub command: String,
    pub arguments: Vec<String>,
    pub environment: Vec<(String, String)>,
    /// What it is told at its start, and when it asks for its configuration.
    pub initialization: Value,
    pub ready: ReadyBy,
    /// The files of which it needs one, above what is asked about, to know more than the files that are open.
    pub project: Vec<String>,
}

impl ServerSpec {
    /// Finds its program on the search path. Programs inside the workspace do not count.
    pub fn program(&self, workspace: &Path) -> Option<PathBuf> {
        let path = Path::new(&self.command);
        if path.is_absolute() {
            return path.is_file().then(|| path.to_path_buf());
        }
        process::find_program(&self.command, workspace)
    }
}

/// Lists the servers known without configuration, in order of preference.
pub fn known() -> Vec<ServerSpec> {
    Language::all().flat_map(|language| language.definition().servers).map(spec).collect()
}

fn spec(server: &LanguageServer) -> ServerSpec {
    let mut words = server.command.split(' ').map(str::to_owned);
    ServerSpec {
        name: server.name.to_owned(),
        languages: server.languages.to_vec(),
        command: words.next().unwrap_or_default(),
        arguments: words.collect(),
        environment: Vec::new(),
        initialization: (server.initialization)(),
        ready: server.ready,
        project: server.project.iter().map(ToString::to_string).collect(),
    }
}

/// What language servers call a language.
pub(crate) fn language_id(language: Language) -> &'static str {
    language.definition().id
}

/// Finds a language by a name people write: `Python`, `c++`, `cpp`, `typescriptreact`.
pub fn language_named(name: &str) -> Option<Language> {
    let is_meant = |language: &Language| {
        language.name().eq_ignore_ascii_case(name) || language_id(*language).eq_ignore_ascii_case(name)
    };
    Language::all().find(is_meant)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_server_has_a_command_and_a_name_of_its_own() {
        let known = known();
        for (place, spec) in known.iter().enumerate() {
            assert!(!spec.command.is_empty() && !spec.languages.is_empty(), "{spec:?}");
            assert!(known[..place].iter().all(|other| other.name != spec.name), "{spec:?}");
        }
    }

    #[test]
    fn languages_are_found_by_the_names_people_and_servers_use() {
        for (name, language) in [
            ("python", Some(Language::Python)),
            ("C++", Some(Language::Cpp)),
            ("cpp", Some(Language::Cpp)),
            ("typescriptreact", Some(Language::Tsx)),
            ("klingon", None),
        ] {
            assert_eq!(language_named(name), language, "{name}");
        }
    }
}
