//! From a call to a verdict, with what decided each of its parts.
//!
//! The order is fixed: the blacklist, denials, protected files, a missing sandbox, rules that ask, rules that allow,
//! classes that are approved by themselves, and last the mode.

use std::sync::Arc;

use stepwell_protocol::{PermissionMode, Risk, protected_part};

use super::blacklist::forbidden;
use super::places::{Bases, JudgePlaces};
use super::rule::{Deed, Rule, decisive};
use super::settings::AutoApprove;
use super::{CallFacts, Effect, Verdict, by_mode};
use crate::Category;
use crate::shell::{self, Analysis, Part, Word};

/// Parts that a reason names.
const MOST_NAMED: usize = 4;

/// A verdict and how it came about.
#[derive(Clone, Debug)]
pub struct Ruling {
    pub verdict: Verdict,
    pub findings: Vec<Finding>,
    /// Whether a class of automatic approval was needed for it.
    pub by_class: bool,
    /// Whether the person must be asked whatever rules say.
    pub always_asks: bool,
    /// The command, taken apart.
    pub analysis: Option<Arc<Analysis>>,
}

/// What one thing that a call does came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The part of the command, the file or the host.
    pub what: String,
    /// What leads to it from outside.
    pub within: Vec<String>,
    pub effect: Effect,
    /// The rule or the mode that decided.
    pub because: String,
    by_class: bool,
}

/// What calls are judged by.
pub(super) struct Court<'a> {
    pub mode: PermissionMode,
    pub rules: &'a [Rule],
    pub auto: &'a AutoApprove,
    pub asked_for: &'a [Category],
    pub places: &'a JudgePlaces,
}

/// Who writes a file. Who allowed `touch *` wants files to be touched; who allowed `echo *` did not think of `>`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Writer {
    /// The program that is judged anyway.
    Program,
    /// A redirection.
    Shell,
}

/// Whether a deed stays in what a call of its kind is about, or goes on to other machines or folders.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    Inside,
    Beyond,
}

/// A decision about one deed.
struct Decision {
    effect: Effect,
    because: String,
    by_class: bool,
}

fn decided(effect: Effect, because: impl Into<String>) -> Decision {
    Decision { effect, because: because.into(), by_class: false }
}

impl Court<'_> {
    pub(super) fn rule_on(&self, facts: &CallFacts) -> Ruling {
        let analysis = facts.command.clone();
        let mut ruling = Ruling {
            verdict: Verdict::Allow,
            findings: Vec::new(),
            by_class: false,
            always_asks: false,
            analysis: None,
        };
        let bases = match &analysis {
            Some(analysis) => {
                let start = facts.preview.paths.first().map(String::as_str);
                Bases::new(self.places, start, &analysis.folders())
            }
            None => Bases::new(self.places, None, &[]),
        };
        if let Some(analysis) = &analysis
            && let Some(reason) = forbidden(analysis, self.places, &bases)
        {
            ruling.verdict = Verdict::Deny { reason: format!("this is never run: {reason}") };
            ruling.analysis = Some(Arc::clone(analysis));
            return ruling;
        }
        let mut protected = Vec::new();
        match &analysis {
            Some(analysis) => {
                self.look_at_command(facts, analysis, &bases, &mut ruling.findings, &mut protected);
            }
            None => self.look_at_call(facts, &mut ruling.findings, &mut protected),
        }
        ruling.by_class = ruling.findings.iter().any(|finding| finding.by_class);
        ruling.verdict = self.verdict(facts, analysis.as_deref(), &protected, &ruling.findings);
        ruling.always_asks = !protected.is_empty() || facts.preview.unconfined.is_some();
        ruling.analysis = analysis;
        ruling
    }

    fn verdict(
        &self,
        facts: &CallFacts,
        analysis: Option<&Analysis>,
        protected: &[String],
        findings: &[Finding],
    ) -> Verdict {
        let of = |effect: Effect| findings.iter().filter(move |finding| finding.effect == effect);
        if let Some(denied) = of(Effect::Deny).next() {
            return Verdict::Deny { reason: format!("`{}`: {}", denied.what, denied.because) };
        }
        if let Some(reason) = analysis.and_then(|analysis| self.could_be_denied(facts, analysis)) {
            return Verdict::Deny { reason };
        }
        if self.mode == PermissionMode::BypassPermissions {
            return Verdict::Allow;
        }
        let exact = self.exact_rule(facts).is_some_and(|rule| rule.effect == Effect::Allow);
        let reads = match (facts.risk, analysis) {
            (Risk::Control | Risk::Read, _) => true,
            // What the sub-task does is judged by the same mode.
            _ if facts.preview.within_rights => true,
            (Risk::Execute, Some(analysis)) => {
                analysis.is_read_only() && findings.iter().all(|finding| finding.effect == Effect::Allow)
            }
            _ => false,
        };
        if self.mode == PermissionMode::Plan && !(reads && facts.preview.unconfined.is_none()) {
            return by_mode(self.mode, facts.risk);
        }
        let mut reasons = Vec::new();
        if !protected.is_empty() && !self.auto.protected {
            reasons.push(format!("it changes what steers tools and agents: {}", protected.join(", ")));
        }
        if let Some(missing) = &facts.preview.unconfined {
            reasons.push(format!("it would run without a sandbox: {missing}"));
        }
        if !exact {
            if let Some(problem) = analysis.and_then(|analysis| analysis.problem.as_ref()) {
                reasons.push(format!("the command could not be taken apart: {problem}"));
            }
            let hidden = shell::hidden_characters(facts.preview.command.as_deref().unwrap_or_default());
            if !hidden.is_empty() {
                reasons.push(format!("the command holds hidden characters: {}", hidden.join(", ")));
            }
            reasons.extend(grouped(of(Effect::Ask), facts.preview.command.is_some()));
        }
        if reasons.is_empty() {
            return Verdict::Allow;
        }
        let more = reasons.len().saturating_sub(3);
        let mut reason = reasons.into_iter().take(3).collect::<Vec<_>>().join("; ");
        if more > 0 {
            reason.push_str(&format!("; and {more} more"));
        }
        match self.mode {
            PermissionMode::DontAsk | PermissionMode::Plan => Verdict::Deny { reason },
            _ => Verdict::Ask { reason },
        }
    }

    /// A call that is no command.
    fn look_at_call(&self, facts: &CallFacts, findings: &mut Vec<Finding>, protected: &mut Vec<String>) {
        let mut add = |what: &str, decision: Decision| findings.push(finding(what, &[], decision));
        let call = self.by_rule(facts, Deed::Call);
        let paths: Vec<String> =
            facts.preview.paths.iter().map(|path| self.places.resolve(path, None)).collect();
        if facts.risk == Risk::Write {
            let steering = paths
                .iter()
                .zip(&facts.preview.paths)
                .filter(|(path, _)| self.places.protected(path).is_some());
            protected.extend(steering.map(|(_, shown)| format!("`{shown}`")));
        }
        let class = self.class_of(facts);
        let general = |class: Option<&str>, reach: Reach| match class {
            Some(class) => {
                Decision { by_class: true, ..decided(Effect::Allow, format!("auto_approve.{class}")) }
            }
            None => self.otherwise(facts, facts.risk, reach),
        };
        if paths.is_empty() && facts.preview.hosts.is_empty() {
            return add(&facts.tool, call.unwrap_or_else(|| general(class, Reach::Inside)));
        }
        for (path, shown) in paths.iter().zip(&facts.preview.paths) {
            let deed = if facts.risk == Risk::Write { Deed::Write(path) } else { Deed::Read(path) };
            let outside = facts.risk == Risk::Write && !self.places.contains(path);
            let class = if outside { class.filter(|_| self.auto.write_outside) } else { class };
            let reach = if outside { Reach::Beyond } else { Reach::Inside };
            let rules =
                self.rules.iter().filter(|rule| rule.covers(facts, Deed::Call) || rule.covers(facts, deed));
            add(shown, decisive(rules).map_or_else(|| general(class, reach), by_this));
        }
        for host in &facts.preview.hosts {
            let rules = self
                .rules
                .iter()
                .filter(|rule| rule.covers(facts, Deed::Call) || rule.covers(facts, Deed::Host(host)));
            // The mode that never asks opens no host: what a command sends out cannot be taken back. The host of an MCP
            // server is one that the settings name.
            let is_named = facts.category == Category::External && facts.tool.starts_with("mcp__");
            let otherwise = || match self.mode {
                PermissionMode::BypassPermissions if !is_named => decided(
                    Effect::Deny,
                    "bypassPermissions mode reaches only hosts that `sandbox.network` or a rule allows",
                ),
                _ => general(class, Reach::Beyond),
            };
            add(host, decisive(rules).map_or_else(otherwise, by_this));
        }
    }

    fn look_at_command(
        &self,
        facts: &CallFacts,
        analysis: &Analysis,
        bases: &Bases,
        findings: &mut Vec<Finding>,
        protected: &mut Vec<String>,
    ) {
        for part in &analysis.parts {
            self.part(facts, analysis, part, bases, findings);
            let operands = part.writes.iter().map(|word| (word, Writer::Program));
            for (word, writer) in operands.chain(part.redirected.iter().map(|word| (word, Writer::Shell))) {
                let targets = self.places.targets(word, bases);
                let whole = matches!(part.name(), "rm" | "mv" | "find" | "chmod" | "chown");
                let steers = match &targets {
                    // What happens to the whole workspace happens to its `.git` too.
                    Some(targets) => targets.iter().any(|target| {
                        self.places.protected(target).is_some() || whole && self.places.roots.contains(target)
                    }),
                    None => protected_part(&word.guess).is_some(),
                };
                if steers {
                    protected.push(format!("`{}`", word.guess));
                }
                let decision = self.write(facts, targets, writer);
                if writer == Writer::Shell || decision.effect != Effect::Allow {
                    findings.push(finding(&format!("writes {}", word.text), &part.within, decision));
                }
            }
            for word in &part.reads {
                let Some(targets) = self.places.targets(word, bases) else { continue };
                for target in targets {
                    if let Some(rule) =
                        decisive(self.rules.iter().filter(|rule| rule.covers(facts, Deed::Read(&target))))
                        && rule.effect != Effect::Allow
                    {
                        findings.push(finding(&format!("reads {}", word.text), &part.within, by_this(rule)));
                    }
                }
            }
        }
    }

    /// Judges one simple command and tells what came of it.
    fn part(
        &self,
        facts: &CallFacts,
        analysis: &Analysis,
        part: &Part,
        bases: &Bases,
        findings: &mut Vec<Finding>,
    ) {
        let what = if part.source.is_empty() { facts.preview.summary.clone() } else { part.source.clone() };
        let rule = self.command_rule(facts, part).filter(|_| !part.words.is_empty());
        let decision = match rule {
            Some(rule) if rule.effect != Effect::Allow => by_this(rule),
            _ if part.opaque.is_some() => decided(
                Effect::Ask,
                part.opaque.clone().unwrap_or_else(|| "it cannot be known what it does".into()),
            ),
            Some(rule) => by_this(rule),
            None if part.transparent || part.words.is_empty() => {
                // `$(</etc/passwd)` reads without a program.
                if !self.reads_inside(facts, part, bases) {
                    let decision = decided(Effect::Ask, "it reads outside the workspace");
                    findings.push(finding(&what, &part.within, decision));
                }
                return;
            }
            None if let Some(reason) = self.git_hazard(part, bases) => decided(Effect::Ask, reason),
            None if self.only_reads(facts, analysis, part, bases) => decided(Effect::Allow, "it only reads"),
            None if self.auto.commands => {
                Decision { by_class: true, ..decided(Effect::Allow, "auto_approve.commands") }
            }
            None => self.otherwise(facts, Risk::Execute, Reach::Inside),
        };
        findings.push(finding(&what, &part.within, decision));
    }

    /// The rule that decides about a command. Where another tool than `bash` runs it, rules about that tool and rules
    /// about commands must both agree, so the stricter one decides; a bare `bash` speaks only where none names the tool.
    fn command_rule(&self, facts: &CallFacts, part: &Part) -> Option<&Rule> {
        let covering = self.rules.iter().filter(|rule| rule.covers(facts, Deed::Command(part)));
        let (own, general): (Vec<&Rule>, Vec<&Rule>) = covering.partition(|rule| rule.names_tool_of(facts));
        let own = decisive(own.into_iter());
        let general = general.into_iter().filter(|rule| own.is_none() || !rule.is_bare());
        match (own, decisive(general)) {
            (Some(own), Some(general)) => Some(if general.effect > own.effect { general } else { own }),
            (own, general) => own.or(general),
        }
    }

    /// Why a command of git would run something that the repository names, which its words do not show.
    fn git_hazard(&self, part: &Part, bases: &Bases) -> Option<String> {
        (part.name() == "git").then(|| self.places.git_hazard(bases))?
    }

    /// Whether a part only reads what lies in the workspace.
    fn only_reads(&self, facts: &CallFacts, analysis: &Analysis, part: &Part, bases: &Bases) -> bool {
        let moves = !analysis.folders().is_empty() && part.name() == "git";
        part.program_only_reads()
            && !moves
            && analysis.functions.is_empty()
            && self.reads_inside(facts, part, bases)
    }

    fn reads_inside(&self, facts: &CallFacts, part: &Part, bases: &Bases) -> bool {
        part.reads.iter().all(|word: &Word| {
            word.text.starts_with(['<', '>'])
                || self.places.targets(word, bases).is_some_and(|targets| {
                    self.places.found_links(word, &targets).is_some_and(|links| {
                        targets.iter().chain(&links).all(|path| self.may_read(facts, path))
                    })
                })
        })
    }

    fn may_read(&self, facts: &CallFacts, path: &str) -> bool {
        let rule = decisive(self.rules.iter().filter(|rule| rule.covers(facts, Deed::Read(path))));
        match rule {
            Some(rule) => rule.effect == Effect::Allow,
            None => self.places.contains(path) || self.auto.read || matches!(path, "/dev/null" | "/dev/zero"),
        }
    }

    /// Judges a file a command writes.
    fn write(&self, facts: &CallFacts, targets: Option<Vec<String>>, writer: Writer) -> Decision {
        let Some(targets) = targets else {
            return decided(Effect::Ask, "which file it writes is not written down");
        };
        let mut worst = decided(Effect::Allow, "in the workspace");
        for target in targets {
            let rule = decisive(self.rules.iter().filter(|rule| rule.covers(facts, Deed::Write(&target))));
            let decision = match rule {
                Some(rule) => by_this(rule),
                None if !self.places.contains(&target) => {
                    if self.auto.write_outside {
                        Decision { by_class: true, ..decided(Effect::Allow, "auto_approve.write_outside") }
                    } else {
                        decided(Effect::Ask, "it writes outside the workspace")
                    }
                }
                None if writer == Writer::Program => decided(Effect::Allow, "in the workspace"),
                None if self.auto.write => {
                    Decision { by_class: true, ..decided(Effect::Allow, "auto_approve.write") }
                }
                None => self.otherwise(facts, Risk::Write, Reach::Inside),
            };
            if decision.effect > worst.effect {
                worst = decision;
            }
        }
        worst
    }

    /// What holds where no rule and no class speaks: the mode, unless the person was asked about the call elsewhere.
    fn otherwise(&self, facts: &CallFacts, risk: Risk, reach: Reach) -> Decision {
        let may_be_asked = matches!(self.mode, PermissionMode::Default | PermissionMode::AcceptEdits);
        if facts.preview.within_rights {
            return decided(Effect::Allow, "it may do no more than this task");
        }
        // A step of a debugged program is part of what was approved with its start.
        if facts.preview.continues_approved && self.mode != PermissionMode::Plan {
            return decided(Effect::Allow, "its program was approved");
        }
        match by_mode(self.mode, risk) {
            Verdict::Allow => decided(Effect::Allow, format!("{} mode", self.mode.name())),
            Verdict::Ask { .. } if may_be_asked && self.asked_for.contains(&facts.category) => match reach {
                Reach::Inside => decided(Effect::Allow, "the person was asked about the call"),
                Reach::Beyond => decided(Effect::Ask, "it goes beyond the workspace"),
            },
            // A rule could have allowed it; where the mode does not ask, it refuses at the end.
            Verdict::Ask { reason } | Verdict::Deny { reason } => decided(Effect::Ask, reason),
        }
    }

    fn by_rule(&self, facts: &CallFacts, deed: Deed<'_>) -> Option<Decision> {
        decisive(self.rules.iter().filter(|rule| rule.covers(facts, deed))).map(by_this)
    }

    /// A rule about exactly this command line.
    fn exact_rule(&self, facts: &CallFacts) -> Option<&Rule> {
        decisive(self.rules.iter().filter(|rule| rule.is_exact() && rule.covers(facts, Deed::Call)))
    }

    /// A command that cannot be known to its end is denied where a denied program is named in it at all.
    fn could_be_denied(&self, facts: &CallFacts, analysis: &Analysis) -> Option<String> {
        if let Some(rule) = self.exact_rule(facts) {
            let reason = format!("{} rule {}", rule.source.name(), rule.text);
            return (rule.effect == Effect::Deny).then_some(reason);
        }
        analysis.opaque()?;
        let text: String = facts.preview.command.as_deref().unwrap_or_default().replace("\\\n", "");
        let text: String = text.chars().filter(|c| !matches!(c, '\'' | '"' | '\\')).collect();
        let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '+');
        let named = |program: &str| {
            text.split(|c| !is_word(c)).any(|word| shell::base_name(word) == shell::base_name(program))
        };
        let denies = |rule: &&Rule| rule.effect == Effect::Deny && rule.covers_commands_of(facts);
        let rule = self.rules.iter().filter(denies).find(|rule| rule.program().is_some_and(named))?;
        Some(format!(
            "it cannot be known what the command runs, and it names what the {} rule {} forbids",
            rule.source.name(),
            rule.text
        ))
    }

    /// The class of automatic approval a call belongs to, where that is switched on.
    fn class_of(&self, facts: &CallFacts) -> Option<&'static str> {
        let auto = self.auto;
        let (on, class) = match facts.category {
            Category::External => (auto.mcp, "mcp"),
            Category::Browser => (auto.browser, "browser"),
            Category::Modes => (auto.mode_switch, "mode_switch"),
            Category::Subtasks => (auto.subtasks, "subtasks"),
            _ if facts.risk == Risk::Write => (auto.write, "write"),
            _ => (false, ""),
        };
        on.then_some(class)
    }
}

fn by_this(rule: &Rule) -> Decision {
    let reason = rule.reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
    decided(rule.effect, format!("{} rule {}{reason}", rule.source.name(), rule.text))
}

fn finding(what: &str, within: &[String], decision: Decision) -> Finding {
    Finding {
        what: what.to_owned(),
        within: within.to_vec(),
        effect: decision.effect,
        because: decision.because,
        by_class: decision.by_class,
    }
}

/// Why things are asked about, each reason once with what it is about.
fn grouped<'f>(findings: impl Iterator<Item = &'f Finding>, named: bool) -> Vec<String> {
    let mut groups: Vec<(&str, Vec<String>)> = Vec::new();
    for finding in findings {
        let what = format!("`{}`", short(&finding.what));
        match groups.iter_mut().find(|(because, _)| *because == finding.because) {
            Some((_, all)) if all.contains(&what) => {}
            Some((_, all)) => all.push(what),
            None => groups.push((&finding.because, vec![what])),
        }
    }
    let told = groups.into_iter().map(|(because, all)| match (named, all.len()) {
        (false, _) => because.to_owned(),
        (true, count) if count > MOST_NAMED => {
            format!("{because}: {} and {} more", all[..MOST_NAMED].join(", "), count - MOST_NAMED)
        }
        (true, _) => format!("{because}: {}", all.join(", ")),
    });
    told.collect()
}

/// A part of a command on one line that stays readable.
fn short(text: &str) -> String {
    const LONGEST: usize = 80;
    let line = shell::visible(&text.split_whitespace().collect::<Vec<_>>().join(" "));
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
