//! What rules deny reading, for the walls that hold whatever a command line says: a pattern of the shell, a search
//! through a folder or a link reaches a file without naming it.

use super::Effect;
use super::rule::{Rule, decisive};

/// The rules about reading files, where one of them denies.
#[derive(Clone, Debug)]
pub struct DeniedReads {
    rules: Vec<Rule>,
}

impl DeniedReads {
    /// `None` when nothing is denied.
    pub fn of(rules: &[Rule]) -> Option<Self> {
        let rules: Vec<Rule> = rules.iter().filter(|rule| rule.reads().is_some()).cloned().collect();
        rules.iter().any(|rule| rule.effect == Effect::Deny).then_some(Self { rules })
    }

    /// The rule that denies reading a file, as it is written.
    pub fn rule_for(&self, absolute: &str) -> Option<String> {
        let rule = decisive(self.rules.iter().filter(|rule| rule.is_about_reading(absolute)))?;
        (rule.effect == Effect::Deny).then(|| format!("the {} rule {}", rule.source.name(), rule.text))
    }

    /// Files and folders that are denied by name, wherever they lie.
    pub fn named(&self) -> Vec<String> {
        let denied = self.rules.iter().filter(|rule| rule.effect == Effect::Deny);
        let named = denied.filter_map(|rule| rule.reads()?.plain().map(str::to_owned));
        named.filter(|path| self.rule_for(path).is_some()).collect()
    }
}
