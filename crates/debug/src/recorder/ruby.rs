//! Ruby: a script that RUBYOPT names, which the interpreter loads before the program.

use std::path::{Path, PathBuf};

use serde_json::Value;
use stepwell_workspace::process::{Environment, find_program};

use super::{RecordedCommand, RecordedLanguage, environment_of, installed, words_of};
use crate::Result;
use crate::adapters::Search;
use crate::launch_config::Resolved;

const SCRIPT: &str = include_str!("ruby/recorder.rb");

pub(super) fn command_of(resolved: &Resolved, search: &Search) -> Option<RecordedCommand> {
    let text = |name: &str| resolved.arguments.get(name).and_then(Value::as_str);
    let arguments = words_of(resolved, "args");
    let (program, words) = match (text("command"), text("script")) {
        (Some(command), _) => (find_program(command, &search.workspace)?, arguments),
        (None, Some(script)) => {
            let ruby = find_program("ruby", &search.workspace)?;
            (ruby, std::iter::once(script.into()).chain(arguments).collect())
        }
        (None, None) => return None,
    };
    Some(RecordedCommand {
        program,
        arguments: words,
        folder: PathBuf::from(text("cwd")?),
        environment: environment_of(resolved),
        language: RecordedLanguage::Ruby,
        input: Vec::new(),
        probes: Vec::new(),
    })
}

pub(super) fn instrument(environment: &mut Environment, records: &Path) -> Result<()> {
    let folder = installed("ruby-recorder", &[("recorder.rb", SCRIPT)], Path::new(""), records)?;
    let mut options = std::ffi::OsString::from("-r");
    options.push(folder.join("recorder.rb"));
    let inherited = std::env::var_os("RUBYOPT");
    if let Some(inherited) = inherited.filter(|inherited| !inherited.is_empty()) {
        options.push(" ");
        options.push(inherited);
    }
    environment.set.push(("RUBYOPT".into(), options));
    environment.set.push(("STEPWELL_RECORD".into(), records.into()));
    Ok(())
}
