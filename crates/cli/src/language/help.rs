//! `--help` in the person's language, from one catalogue: a line of English, then the line that stands for it.

use std::collections::HashMap;

use clap::Command;
use clap::builder::StyledStr;

use super::Language;

const CHINESE: &str = include_str!("help.zh.txt");
/// clap's own form with a heading in Chinese.
const TEMPLATE: &str = "{before-help}{about-with-newline}\n用法： {usage}\n\n{all-args}{after-help}";

/// A command whose help is in this language.
pub fn in_language(command: Command, language: Language) -> Command {
    match language {
        Language::English => command,
        Language::Chinese => {
            let mut command = command;
            // clap adds `--help`, `--version` and `help` only now.
            command.build();
            translated(command, &catalogue())
        }
    }
}

fn catalogue() -> HashMap<&'static str, &'static str> {
    let mut lines = CHINESE.lines();
    std::iter::from_fn(|| Some((lines.next()?, lines.next()?))).collect()
}

fn translated(command: Command, catalogue: &HashMap<&str, &str>) -> Command {
    let words = |text: Option<&StyledStr>| text.map(|text| text_of(&text.to_string(), catalogue));
    let about = words(command.get_about());
    let after = words(command.get_after_help());
    let mut command = command.help_template(TEMPLATE).subcommand_help_heading("命令");
    command = about.into_iter().fold(command, Command::about);
    command = after.into_iter().fold(command, Command::after_help);
    command
        .mut_args(|argument| {
            let help = argument.get_help().map(|help| text_of(&help.to_string(), catalogue));
            let heading = if argument.is_positional() { "参数" } else { "选项" };
            let argument = argument.help_heading(heading);
            help.into_iter().fold(argument, clap::Arg::help)
        })
        .mut_subcommands(|subcommand| translated(subcommand, catalogue))
}

/// Every line that the catalogue has, in the other language and at its place.
fn text_of(text: &str, catalogue: &HashMap<&str, &str>) -> String {
    let lines = text.lines().map(|line| {
        let words = line.trim_start();
        let indent = &line[..line.len() - words.len()];
        format!("{indent}{}", catalogue.get(words).copied().unwrap_or(words))
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::CommandFactory;

    use super::*;

    /// Every text of a command and those below it that a person reads.
    fn texts(command: &Command, found: &mut BTreeSet<String>) {
        let arguments = command.get_arguments().filter_map(clap::Arg::get_help);
        for text in command.get_about().into_iter().chain(command.get_after_help()).chain(arguments) {
            found.extend(text.to_string().lines().map(|line| line.trim_start().to_owned()));
        }
        command.get_subcommands().for_each(|command| texts(command, found));
    }

    #[test]
    fn the_catalogue_has_every_line_of_help_and_no_other() {
        let mut command = crate::args::Cli::command();
        command.build();
        let mut found = BTreeSet::new();
        texts(&command, &mut found);
        // An example is the same in every language.
        found.retain(|line| !line.is_empty() && !line.starts_with("stepwell "));
        let catalogue = catalogue();
        let missing: Vec<&String> =
            found.iter().filter(|line| !catalogue.contains_key(line.as_str())).collect();
        assert!(missing.is_empty(), "not in help.zh.txt: {missing:#?}");
        let others: Vec<&&str> = catalogue.keys().filter(|english| !found.contains(**english)).collect();
        assert!(others.is_empty(), "no line of help: {others:#?}");
        assert_eq!(CHINESE.lines().count() % 2, 0, "a line stands alone");
        for (english, chinese) in &catalogue {
            assert!(chinese.chars().any(|letter| letter as u32 > 0x2E80), "`{english}` is not translated");
        }
    }
}
