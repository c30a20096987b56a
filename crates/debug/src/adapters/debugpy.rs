//! debugpy: Python. Spoken to over its standard streams, through a few lines that keep its inner socket quick.

use serde_json::{Map, Value, json};

use super::{
    Adapter, AdapterKind, How, Located, LogDialect, Manners, Reach, Search, default_to, manners, missing,
    python,
};
use crate::Result;

/// Starts the adapter with quick acknowledgements on its connection to the program: debugpy 1.8 writes each message in
/// two pieces, and the kernel would hold back the second for 40 ms.
const QUICK_ADAPTER: &str = include_str!("quick_debugpy.py");

#[derive(Debug)]
pub struct Debugpy;

impl Adapter for Debugpy {
    fn kind(&self) -> AdapterKind {
        AdapterKind::Debugpy
    }

    fn locate(&self, search: &Search, arguments: &Map<String, Value>) -> Result<Located> {
        let wanted = python::of_configuration(arguments, search);
        let facts = python::with_debugpy(search, wanted.as_deref()).ok_or_else(|| {
            missing(
                AdapterKind::Debugpy,
                "no Python with the module `debugpy` was found",
                "`stepwell adapters install debugpy` fetches it into Stepwell's own folder",
            )
        })?;
        let mut environment = vec![("PYDEVD_DISABLE_FILE_VALIDATION".into(), "1".into())];
        if let Some(folder) = &facts.debugpy_folder {
            environment.push(("STEPWELL_DEBUGPY".into(), folder.into()));
        }
        Ok(Located {
            program: facts.executable,
            // The folder it is started in must not be searched for modules.
            arguments: vec!["-c".into(), QUICK_ADAPTER.into()],
            environment,
            version: facts.debugpy_version,
        })
    }

    fn reach(&self) -> Reach {
        Reach::Pipes
    }

    fn adapter_id(&self) -> &'static str {
        "debugpy"
    }

    fn complete(&self, how: How, arguments: &mut Map<String, Value>, search: &Search) {
        if how == How::Launch {
            default_to(arguments, "console", "internalConsole");
            if !arguments.contains_key("python")
                && let Some(python) = python::of_configuration(arguments, search)
            {
                let executable = python::resolved(search, &python).unwrap_or(python);
                arguments.insert("python".to_owned(), json!([executable]));
            }
        }
    }

    fn manners(&self) -> &'static Manners {
        &Manners {
            logs: LogDialect::WithCondition,
            repl_is_command_line: false,
            scopes_follow_last_request: false,
            walks_plain_paths: false,
            pages_variables: false,
            exception_filters: &["uncaught"],
            prints_for_the_program: false,
            closes_at_the_end: false,
            prints_late: false,
            clean_output: manners::as_it_is,
            passing_exceptions: &["SystemExit"],
        }
    }
}
