//! What the person reads, in the person's language: English, or Chinese where the locale or the settings ask for it.
//!
//! English is the source in every crate. Text of the command line is looked up in a catalogue. An error without an entry is
//! shown in English, after the translated name of its kind.

pub mod help;
mod messages;

use std::sync::OnceLock;

use stepwell_protocol::{ErrorKind, ErrorReport};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    English,
    Chinese,
}

/// The language of this process, once the settings are read.
static CURRENT: OnceLock<Language> = OnceLock::new();

/// Returns a message in the language of the process.
pub fn said(text: &str) -> String {
    Language::current().say(text).into_owned()
}

impl Language {
    /// The language of the process: that of the settings where they were read, else that of the environment.
    pub fn current() -> Self {
        CURRENT.get().copied().unwrap_or_else(Self::of_environment)
    }

    /// The language before any file is read.
    pub fn of_environment() -> Self {
        let setting = std::env::var("STEPWELL_LANGUAGE").ok().filter(|language| !language.is_empty());
        Self::choose(setting.as_deref())
    }

    /// Speaks as the settings say from now on.
    pub fn settle(setting: Option<&str>) {
        // The first settings of a process are those of the folder it was started in.
        CURRENT.set(Self::choose(setting)).ok();
    }

    /// The settings' word first, then the locale of the environment.
    pub fn choose(setting: Option<&str>) -> Self {
        if let Some(setting) = setting {
            let setting = setting.to_lowercase();
            let chinese = ["chinese", "中文", "汉语", "zh"].iter().any(|word| setting.contains(word));
            return if chinese { Self::Chinese } else { Self::English };
        }
        let locale = ["LC_ALL", "LC_MESSAGES", "LANG"]
            .iter()
            .find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()));
        match locale {
            Some(locale) if locale.starts_with("zh") => Self::Chinese,
            _ => Self::English,
        }
    }

    /// The one of two wordings that the person reads.
    pub fn pick<'a>(self, english: &'a str, chinese: &'a str) -> &'a str {
        match self {
            Self::English => english,
            Self::Chinese => chinese,
        }
    }

    pub fn error(self) -> &'static str {
        self.pick("error:", "错误：")
    }

    pub fn hint(self) -> &'static str {
        self.pick("hint:", "提示：")
    }

    pub fn warning(self) -> &'static str {
        self.pick("warning:", "警告：")
    }

    /// The error's message, with its kind before it where the message itself is in another language.
    pub fn describe(self, error: &ErrorReport) -> String {
        match self {
            Self::English => error.message.clone(),
            Self::Chinese if self.knows(&error.message) => self.say(&error.message).into_owned(),
            Self::Chinese => format!("{}（{}）", kind_in_chinese(error.kind), self.say(&error.message)),
        }
    }

    pub fn turns(self, count: u64) -> String {
        match (self, count) {
            (Self::English, 1) => "1 turn".into(),
            (Self::English, count) => format!("{count} turns"),
            (Self::Chinese, count) => format!("{count} 轮"),
        }
    }
}

fn kind_in_chinese(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::LlmConnection => "无法连接模型服务，请检查网络和配置",
        ErrorKind::LlmRateLimit => "请求过于频繁，已达到速率限制",
        ErrorKind::LlmAuthentication => "密钥缺失或无效",
        ErrorKind::LlmQuota => "账户余额或配额不足",
        ErrorKind::LlmUnknownModel => "没有这个模型",
        ErrorKind::LlmContextTooLong => "上下文过长，超出模型窗口",
        ErrorKind::LlmProtocol => "模型服务的回答无法理解",
        ErrorKind::MaxIterations => "已达到最大轮数",
        ErrorKind::Budget | ErrorKind::TokenBudget => "预算已用完",
        ErrorKind::Loop => "同一调用不断重复",
        ErrorKind::Cancelled => "已取消",
        ErrorKind::NeedsPerson => "需要有人批准或回答",
        ErrorKind::StepFailed => "计划中的一步失败了",
        ErrorKind::Store => "无法保存任务",
        ErrorKind::Rejected => "无法执行该请求",
        ErrorKind::Unsupported => "此版本不支持",
        ErrorKind::Internal => "出错了",
    }
}
