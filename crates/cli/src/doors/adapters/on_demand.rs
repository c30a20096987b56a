//! Installs an adapter when a program needs it, where the settings allow it or the person agrees.

use std::io::{BufRead, IsTerminal};
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use stepwell_debug::Installer;
use stepwell_debug::adapters::AdapterKind;

use super::install;
use crate::assemble::debugging::adapters_folder;
use crate::language::Language;
use crate::settings::Places;
use crate::terminal::{self, error_line};

#[derive(Debug)]
pub struct OnDemand {
    folder: PathBuf,
    language: Language,
    asks: bool,
}

impl OnDemand {
    /// Installs without asking: the settings allow it.
    pub fn allowed(places: &Places) -> Arc<dyn Installer> {
        Arc::new(Self { folder: adapters_folder(places), language: Language::English, asks: false })
    }

    /// Asks the person at the terminal first.
    pub fn asking(places: &Places, language: Language) -> Arc<dyn Installer> {
        Arc::new(Self { folder: adapters_folder(places), language, asks: true })
    }

    /// Whether it may be installed. Without a terminal, or without an answer, it may not.
    async fn may(&self, kind: AdapterKind) -> bool {
        if !self.asks {
            return true;
        }
        if !std::io::stdin().is_terminal() || !terminal::stderr_is_terminal() {
            return false;
        }
        let question = self.language.word("is not installed. Fetch it into Stepwell's own folder? [y/N]");
        error_line(&format!("{kind} {question}"));
        let answer = tokio::task::spawn_blocking(|| {
            let mut line = String::new();
            std::io::stdin().lock().read_line(&mut line).map(|_| line)
        });
        let answer = answer.await.ok().and_then(Result::ok).unwrap_or_default();
        matches!(answer.trim().to_lowercase().as_str(), "y" | "yes" | "是")
    }
}

#[async_trait]
impl Installer for OnDemand {
    async fn install(&self, kind: AdapterKind) -> Result<bool, String> {
        let package = kind.adapter().package().filter(|package| package.on_demand);
        let Some(package) = package else { return Ok(false) };
        if !self.may(kind).await {
            return Ok(false);
        }
        install::install_alone(kind, package, &self.folder, self.language)
            .await
            .map_err(|problem| problem.to_string())?;
        Ok(true)
    }
}
