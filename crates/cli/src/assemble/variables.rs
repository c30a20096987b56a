//! The variables that the person keeps, for the tools of a workspace.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use secrecy::{ExposeSecret as _, SecretString};
use stepwell_store::{VariableScope, VariableStore};
use stepwell_tools::{TaskVariables, VariableKeeper};

use crate::settings::Places;

/// The variables of a person on this machine.
pub fn variable_store(places: &Places) -> VariableStore {
    VariableStore::new(&places.shared, &places.config)
}

/// Those that tasks of a workspace may use.
pub fn task_variables(places: &Places, workspace: &Path) -> TaskVariables {
    let project = Places::project(workspace).to_path_buf();
    TaskVariables::new(Arc::new(ProjectVariables { store: variable_store(places), project }))
}

/// Every value with its name, for the redactor. What cannot be read cannot be printed either.
pub fn known_values(places: &Places) -> Vec<(String, String)> {
    let values = variable_store(places).values().unwrap_or_default();
    values.into_iter().map(|(name, value)| (name, value.expose_secret().to_owned())).collect()
}

#[derive(Debug)]
struct ProjectVariables {
    store: VariableStore,
    project: PathBuf,
}

impl VariableKeeper for ProjectVariables {
    fn names(&self) -> Result<Vec<(String, &'static str)>, String> {
        let listed = self.store.list(Some(&self.project)).map_err(|error| error.to_string())?;
        let scope = |scope: &VariableScope| match scope {
            VariableScope::Project(_) => "project",
            VariableScope::Person => "person",
        };
        Ok(listed.into_iter().map(|variable| (variable.name, scope(&variable.scope))).collect())
    }

    fn value(&self, name: &str) -> Result<Option<SecretString>, String> {
        self.store.value(&self.project, name).map_err(|error| error.to_string())
    }
}
