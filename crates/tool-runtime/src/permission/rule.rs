//! One rule: what it is about, and what it says.

use super::patterns::{Care, CommandPattern, HostPattern, PathPattern};
use super::places::JudgePlaces;
use super::{CallFacts, Effect};
use crate::shell::Part;
use crate::{RegisteredTool, Registry};
use std::sync::Arc;
use stepwell_protocol::Risk;

/// Where a rule comes from; the later, the more it is trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RuleSource {
    /// The folder's own settings.
    Project,
    /// What the person said in this task.
    Session,
    User,
    /// The machine's owner.
    Managed,
}

impl RuleSource {
    pub fn name(self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::Session => "session",
            Self::User => "user",
            Self::Managed => "managed",
        }
    }

    /// The person's word in the task weighs as much as the person's settings.
    fn trust(self) -> u8 {
        match self {
            Self::Project => 0,
            Self::Session | Self::User => 1,
            Self::Managed => 2,
        }
    }
}

#[derive(Clone, Debug)]
pub struct Rule {
    pub effect: Effect,
    pub source: RuleSource,
    /// What is told when it decides.
    pub reason: Option<String>,
    /// How it is written: `bash(cargo test *)`.
    pub text: String,
    about: About,
}

/// What a rule is about follows from its text.
impl PartialEq for Rule {
    fn eq(&self, other: &Self) -> bool {
        self.effect == other.effect && self.source == other.source && self.text == other.text
    }
}

impl Eq for Rule {}

#[derive(Clone, Debug)]
enum About {
    /// Every call of a tool.
    Tool(String),
    Command(String, CommandPattern),
    /// One command line and nothing else.
    Exact(String, String),
    /// Files of a tool's calls; or their command lines, for a tool that runs some.
    Path(String, PathPattern, Option<CommandPattern>),
    Host(HostPattern),
}

/// Names that mean running commands, reading files and changing files, whatever the tool is called. The first is what
/// the others stand for; a test of the tools keeps them equal to the tools' aliases.
const COMMANDS: &[&str] = &["bash", "shell", "execute_command", "run_command", "terminal_command"];
const READS: &[&str] = &["read", "read_file", "view", "cat"];
const EDITS: &[&str] = &["edit", "search_and_replace", "str_replace", "edit_file", "search_replace"];
const HOSTS: &[&str] = &["network", "webfetch", "web_fetch"];

/// The name that an alias in a rule stands for.
fn canonical(name: &str) -> &str {
    let classes = [COMMANDS, READS, EDITS];
    let class = classes.iter().find(|class| class.contains(&name));
    class.and_then(|class| class.first()).copied().unwrap_or(name)
}

/// One thing a call does that a rule can speak about.
#[derive(Clone, Copy, Debug)]
pub(super) enum Deed<'a> {
    /// Uses a tool.
    Call,
    Command(&'a Part),
    /// Writes a file, by absolute path.
    Write(&'a str),
    Read(&'a str),
    Host(&'a str),
}

impl Rule {
    /// Reads `Tool` or `Tool(spec)`.
    pub fn parse(
        effect: Effect,
        text: &str,
        source: RuleSource,
        places: &JudgePlaces,
    ) -> Result<Self, String> {
        let text = text.trim();
        let (tool, spec) = match text.split_once('(') {
            Some((tool, rest)) => {
                let spec = rest.strip_suffix(')').ok_or_else(|| "`)` is missing at the end".to_owned())?;
                (tool.trim(), Some(spec))
            }
            None => (text, None),
        };
        Self::build(effect, tool, spec, source, places)
    }

    /// The same from its parts.
    pub fn build(
        effect: Effect,
        tool: &str,
        spec: Option<&str>,
        source: RuleSource,
        places: &JudgePlaces,
    ) -> Result<Self, String> {
        let name = tool.to_ascii_lowercase();
        let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '*' | '.'));
        if name.is_empty() || !plain {
            return Err(format!("`{tool}` is no name of a tool"));
        }
        let name = canonical(&name).to_owned();
        let about = match spec {
            Some(spec) if COMMANDS.contains(&name.as_str()) && spec.trim() != "*" => {
                About::Command(name, CommandPattern::parse(spec)?)
            }
            None if HOSTS.contains(&name.as_str()) => About::Host(HostPattern::parse("*")?),
            Some(spec) if HOSTS.contains(&name.as_str()) => About::Host(HostPattern::parse(spec)?),
            None => About::Tool(name),
            Some(spec) if matches!(spec.trim(), "*" | "**") => About::Tool(name),
            Some(_) if name.starts_with("mcp__") => {
                return Err("a rule about an MCP server has no part in parentheses".to_owned());
            }
            Some(spec) => {
                About::Path(name, PathPattern::parse(spec, places)?, CommandPattern::parse(spec).ok())
            }
        };
        let text = match spec {
            Some(spec) => format!("{tool}({spec})"),
            None => tool.to_owned(),
        };
        Ok(Self { effect, source, reason: None, text, about })
    }

    /// A rule about one command line.
    pub fn exact(effect: Effect, tool: &str, command: &str, source: RuleSource) -> Self {
        let tool_name = tool.to_ascii_lowercase();
        let about = About::Exact(canonical(&tool_name).to_owned(), command.to_owned());
        Self { effect, source, reason: None, text: format!("{tool}: exactly `{command}`"), about }
    }

    /// Whether it speaks about a deed of a call.
    pub(super) fn covers(&self, facts: &CallFacts, deed: Deed<'_>) -> bool {
        let care = self.care();
        match (&self.about, deed) {
            // Whatever tool runs a command, rules about commands are about it.
            (About::Tool(name), Deed::Command(_)) => name == COMMANDS[0] || names(name, facts, None),
            (About::Tool(name), Deed::Call) => names(name, facts, None),
            // A bare `edit` or `read` is also about the files of commands.
            (About::Tool(name), Deed::Write(_)) => names(name, facts, Some(Risk::Write)),
            (About::Tool(name), Deed::Read(_)) => names(name, facts, Some(Risk::Read)),
            (About::Command(_, pattern), Deed::Command(part)) => pattern.matches(part, care),
            (About::Path(name, _, Some(pattern)), Deed::Command(part)) => {
                is_called(name, facts) && pattern.matches(part, care)
            }
            (About::Exact(name, command), Deed::Call) => {
                // In another folder the same words do other things.
                let here = facts.preview.paths.is_empty();
                is_called(name, facts) && here && facts.preview.command.as_ref() == Some(command)
            }
            (About::Path(name, pattern, _), Deed::Write(path)) => {
                (name == "edit" || is_called(name, facts)) && pattern.matches(path, care)
            }
            (About::Path(name, pattern, _), Deed::Read(path)) => {
                (name == "read" || is_called(name, facts)) && pattern.matches(path, care)
            }
            (About::Host(pattern), Deed::Host(host)) => pattern.matches(host),
            _ => false,
        }
    }

    /// Whether it is about a host, given with its port.
    pub(super) fn is_about_host(&self, host: &str) -> bool {
        matches!(&self.about, About::Host(pattern) if pattern.matches(host))
    }

    /// The port of this machine's loopback that it names.
    pub(super) fn loopback_port(&self) -> Option<u16> {
        match &self.about {
            About::Host(pattern) => pattern.loopback_port(),
            _ => None,
        }
    }

    /// The files it is about, where it is about reading files by whatever tool.
    pub(super) fn reads(&self) -> Option<&PathPattern> {
        match &self.about {
            About::Path(name, pattern, _) if name == "read" => Some(pattern),
            _ => None,
        }
    }

    pub(super) fn is_about_reading(&self, absolute: &str) -> bool {
        self.reads().is_some_and(|pattern| pattern.matches(absolute, self.care()))
    }

    /// What allows must be certain, what refuses need only be possible.
    fn care(&self) -> Care {
        if self.effect == Effect::Allow { Care::Certain } else { Care::Possible }
    }

    /// Whether it is about commands of a call's tool.
    pub(super) fn covers_commands_of(&self, facts: &CallFacts) -> bool {
        match &self.about {
            About::Command(..) => true,
            About::Path(name, _, Some(_)) => is_called(name, facts),
            _ => false,
        }
    }

    /// Whether it is about the tool of a call by its name.
    pub(super) fn names_tool_of(&self, facts: &CallFacts) -> bool {
        self.tool_name().is_some_and(|name| is_called(name, facts))
    }

    /// Whether it has no part in parentheses.
    pub(super) fn is_bare(&self) -> bool {
        matches!(self.about, About::Tool(_))
    }

    pub(super) fn is_exact(&self) -> bool {
        matches!(self.about, About::Exact(..))
    }

    /// The program a rule about commands names; for what cannot be taken apart.
    pub(super) fn program(&self) -> Option<&str> {
        match &self.about {
            About::Command(_, pattern) | About::Path(_, _, Some(pattern)) => pattern.program(),
            _ => None,
        }
    }

    /// Whether it refuses every call of a tool.
    fn denies_all_of(&self, tool: &RegisteredTool) -> bool {
        let About::Tool(name) = &self.about else { return false };
        let spec = tool.spec();
        let by_kind = name == "edit" && spec.risk == Risk::Write
            || name == "read" && spec.risk == Risk::Read && spec.category.reads_files();
        self.effect == Effect::Deny && (by_kind || means(name, tool.name(), spec.aliases))
    }

    /// Whether it is about calls of a tool, all or some.
    fn is_about(&self, tool: &RegisteredTool) -> bool {
        self.tool_name().is_some_and(|name| {
            matches!(name, "edit" | "read") || means(name, tool.name(), tool.spec().aliases)
        })
    }

    /// The name of the tool it is about; `None` for one about hosts.
    fn tool_name(&self) -> Option<&str> {
        match &self.about {
            About::Tool(name) | About::Command(name, _) | About::Exact(name, _) | About::Path(name, ..) => {
                Some(name)
            }
            About::Host(_) => None,
        }
    }

    /// The name in it that no tool has. Tools of MCP servers may come later.
    pub fn unknown_tool(&self, registry: &Registry) -> Option<&str> {
        let name = self.tool_name().filter(|name| !name.starts_with("mcp__"))?;
        let known = |tool: &Arc<RegisteredTool>| means(name, tool.name(), tool.spec().aliases);
        (!registry.list(None, None).iter().any(known)).then_some(name)
    }

    fn weight(&self) -> usize {
        match &self.about {
            About::Tool(name) if name.contains('*') => 0,
            About::Tool(_) => 1,
            About::Command(_, pattern) => 2 + pattern.weight(),
            About::Path(_, pattern, _) => 2 + pattern.weight(),
            About::Host(pattern) => 2 + pattern.weight(),
            About::Exact(..) => usize::MAX,
        }
    }
}

/// Whether a name in a rule means the tool of a call; `kind` is the class of files `edit` and `read` stand for.
fn names(name: &str, facts: &CallFacts, kind: Option<Risk>) -> bool {
    let by_kind = match (name, kind) {
        ("edit", Some(Risk::Write)) | ("read", Some(Risk::Read)) => true,
        ("edit", None) => facts.risk == Risk::Write && facts.preview.command.is_none(),
        ("read", None) => facts.risk == Risk::Read && facts.category.reads_files(),
        _ => false,
    };
    by_kind || is_called(name, facts) && (kind.is_none() || facts.preview.command.is_none())
}

fn is_called(name: &str, facts: &CallFacts) -> bool {
    means(name, &facts.tool, facts.aliases)
}

/// Whether a name in a rule means a tool, by its name or by one of its aliases.
fn means(name: &str, tool: &str, aliases: &[&str]) -> bool {
    let is = |tool: &str| {
        let tool = tool.to_ascii_lowercase();
        let of_server =
            name.starts_with("mcp__") && tool.strip_prefix(name).is_some_and(|rest| rest.starts_with("__"));
        match name.strip_suffix('*') {
            Some(start) => tool.starts_with(start),
            None => tool == name || of_server,
        }
    };
    is(tool) || aliases.iter().any(|alias| is(alias))
}

/// The rule that refuses every call of a tool, as it is written. Such a tool need not be offered. Where another rule
/// speaks about the tool with as much trust, a call could still be allowed.
pub fn denied_tool(rules: &[Rule], tool: &RegisteredTool) -> Option<String> {
    let deny = rules.iter().filter(|rule| rule.denies_all_of(tool)).max_by_key(|rule| rule.source.trust())?;
    let could_allow = |rule: &Rule| {
        rule.effect != Effect::Deny && rule.source.trust() >= deny.source.trust() && rule.is_about(tool)
    };
    (!rules.iter().any(could_allow)).then(|| format!("the {} rule {}", deny.source.name(), deny.text))
}

/// The rule that decides among those that speak about the same thing: the most specific one, the stricter at a
/// tie. Nothing less trusted overrides a denial.
pub(super) fn decisive<'r>(rules: impl Iterator<Item = &'r Rule>) -> Option<&'r Rule> {
    let matching: Vec<&Rule> = rules.collect();
    let best =
        matching.iter().copied().max_by_key(|rule| (rule.weight(), rule.effect, rule.source.trust()))?;
    let overruled = |deny: &&Rule| {
        deny.effect == Effect::Deny
            && (deny.source.trust() > best.source.trust() || deny.weight() >= best.weight())
    };
    Some(
        matching
            .into_iter()
            .filter(|rule| overruled(rule))
            .max_by_key(|rule| rule.source.trust())
            .unwrap_or(best),
    )
}
