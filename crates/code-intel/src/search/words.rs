//! Words: those of a question, those in a name, and those that mean the same.

/// Words that stand for each other. A question may be in Chinese while the code is in English.
const SYNONYMS: &[&[&str]] = &[
    &["delete", "remove", "drop", "erase", "unlink", "删除", "移除"],
    &["create", "make", "new", "build", "construct", "创建", "新建", "构建"],
    &["get", "fetch", "load", "read", "retrieve", "获取", "读取", "加载"],
    &["set", "assign", "put", "设置"],
    &["save", "store", "write", "persist", "保存", "写入", "存储"],
    &["find", "search", "lookup", "query", "locate", "查找", "搜索", "查询"],
    &["error", "exception", "failure", "fault", "err", "错误", "异常"],
    &["parse", "decode", "deserialize", "解析", "解码"],
    &["format", "encode", "serialize", "render", "格式", "编码", "序列化", "渲染"],
    &["start", "begin", "launch", "run", "execute", "启动", "开始", "运行", "执行"],
    &["stop", "end", "finish", "terminate", "kill", "停止", "结束", "终止"],
    &["check", "validate", "verify", "assert", "检查", "验证", "校验"],
    &[
        "config",
        "settings",
        "options",
        "preferences",
        "configuration",
        "cfg",
        "conf",
        "配置",
        "设置项",
        "选项",
    ],
    &["user", "account", "用户", "账户"],
    &["login", "authenticate", "auth", "signin", "登录", "认证"],
    &["password", "secret", "credential", "密码", "密钥"],
    &["connect", "connection", "open", "连接"],
    &["send", "emit", "publish", "dispatch", "发送", "发布"],
    &["receive", "listen", "subscribe", "接收", "监听", "订阅"],
    &["request", "req", "请求"],
    &["response", "reply", "answer", "resp", "响应", "应答"],
    &["file", "文件"],
    &["folder", "directory", "dir", "目录", "文件夹"],
    &["list", "array", "vector", "列表", "数组"],
    &["map", "dict", "dictionary", "hash", "table", "映射", "字典", "哈希"],
    &["string", "text", "str", "字符串", "文本"],
    &["number", "integer", "int", "num", "数字", "整数"],
    &["convert", "transform", "cast", "转换"],
    &["compare", "equal", "diff", "比较"],
    &["sort", "order", "rank", "排序"],
    &["filter", "select", "过滤", "筛选"],
    &["merge", "join", "combine", "合并"],
    &["split", "divide", "partition", "拆分", "分割"],
    &["cache", "缓存"],
    &["log", "logger", "trace", "日志"],
    &["test", "测试"],
    &["time", "date", "clock", "timestamp", "时间", "日期"],
    &["wait", "sleep", "delay", "timeout", "等待", "超时"],
    &["retry", "重试"],
    &["thread", "task", "worker", "线程", "任务"],
    &["lock", "mutex", "锁"],
    &["queue", "channel", "队列"],
    &["database", "db", "sql", "数据库"],
    &["message", "msg", "消息"],
    &["event", "事件"],
    &["print", "show", "display", "output", "打印", "显示", "输出"],
    &["update", "modify", "change", "edit", "更新", "修改"],
    &["copy", "clone", "duplicate", "复制"],
    &["count", "size", "length", "len", "计数", "长度", "大小"],
    &["network", "http", "socket", "网络"],
    &["permission", "access", "role", "权限"],
    &["index", "idx", "索引"],
    &["encrypt", "cipher", "加密"],
    &["compress", "zip", "pack", "压缩"],
    // Words that are written short.
    &["buffer", "buf", "缓冲"],
    &["pointer", "ptr", "指针"],
    &["context", "ctx", "上下文"],
    &["document", "doc", "文档"],
    &["temporary", "temp", "tmp", "临时"],
    &["environment", "env", "环境"],
    &["reference", "ref", "引用"],
    &["attribute", "attr", "属性"],
    &["expression", "expr", "表达式"],
    &["iterator", "iterate", "iter", "迭代"],
    &["package", "pkg", "包"],
    &["device", "dev", "设备"],
    &["interrupt", "irq", "中断"],
    &["transaction", "txn", "事务"],
    &["synchronize", "sync", "同步"],
    &["asynchronous", "async", "异步"],
    &["information", "info", "信息"],
    &["source", "src", "源"],
    &["destination", "dst", "dest", "目标"],
    // Words of Chinese alone: in English there is one.
    &["add", "添加", "增加"],
    &["insert", "插入"],
    &["close", "关闭"],
    &["open", "打开"],
    &["clear", "清空", "清除"],
    &["initialize", "init", "setup", "初始化"],
    &["calculate", "compute", "calc", "计算"],
    &["total", "合计", "总计", "总和"],
    &["sum", "求和"],
    &["average", "平均"],
    &["pay", "payment", "支付", "付款"],
    &["price", "价格"],
    &["order", "订单"],
    &["cart", "购物车"],
    &["product", "商品", "产品"],
    &["customer", "客户", "顾客"],
    &["name", "名称", "名字"],
    &["color", "颜色"],
    &["image", "图片", "图像"],
    &["button", "按钮"],
    &["page", "页面"],
    &["window", "窗口"],
    &["input", "输入"],
    &["upload", "上传"],
    &["download", "下载"],
    &["import", "导入"],
    &["export", "导出"],
    &["path", "路径"],
    &["default", "默认"],
    &["argument", "parameter", "arg", "param", "参数"],
    &["return", "返回"],
    &["command", "cmd", "命令"],
    &["process", "进程"],
    &["memory", "mem", "内存"],
    &["node", "节点"],
    &["server", "服务器"],
    &["service", "服务"],
    &["client", "客户端"],
    &["route", "路由"],
    &["session", "会话"],
    &["token", "令牌"],
    &["random", "随机"],
    &["signal", "信号"],
    &["callback", "回调"],
    &["debug", "调试"],
    &["breakpoint", "断点"],
    &["variable", "变量"],
    &["type", "类型"],
    &["version", "版本"],
    &["plugin", "插件"],
    &["template", "模板"],
    &["translate", "翻译"],
    &["language", "语言"],
    &["register", "注册"],
    &["schedule", "调度", "定时"],
    &["upgrade", "升级"],
    &["install", "安装"],
    &["release", "free", "释放"],
    &["allocate", "alloc", "malloc", "分配"],
    &["refresh", "刷新"],
    &["rename", "重命名"],
    &["move", "移动"],
    &["replace", "替换"],
    &["match", "匹配"],
    &["limit", "限制"],
    &["state", "status", "状态"],
    &["address", "addr", "地址"],
    &["email", "邮件", "邮箱"],
    &["phone", "电话"],
];

/// Words of questions that say nothing about code.
const EMPTY: &[&str] = &[
    "the", "a", "an", "of", "in", "to", "is", "are", "for", "and", "or", "where", "what", "how", "which",
    "does", "do", "that", "this", "it", "with", "by", "on", "be", "when", "who", "code", "function", "的",
    "在", "哪里", "如何", "什么",
];

/// A word of a question with those that mean the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Term {
    word: String,
    others: Vec<&'static str>,
}

impl Term {
    /// How well a list of words has it: another word for it counts half.
    pub(crate) fn matches(&self, words: &[String]) -> f64 {
        let mut sum = 0.0;
        for word in words {
            if is_form_of(word, &self.word) {
                sum += 1.0;
            } else if self.others.iter().any(|other| is_form_of(word, other)) {
                sum += 0.5;
            }
        }
        sum
    }

    /// What every form of it begins with, then what those of the words that mean the same do.
    pub(crate) fn beginnings(&self) -> impl Iterator<Item = &str> {
        let words = std::iter::once(self.word.as_str()).chain(self.others.iter().copied());
        words.map(|word| if word.len() >= 4 { stem(word) } else { word })
    }
}

/// `parsing`, `parser` and `parsed` are forms of `parse`.
fn is_form_of(word: &str, of: &str) -> bool {
    word == of || of.len() >= 4 && stem(word) == stem(of)
}

fn stem(word: &str) -> &str {
    for ending in ["ations", "ation", "ings", "ing", "ers", "er", "ies", "ed", "es", "s", "e", "y"] {
        if let Some(stem) = word.strip_suffix(ending)
            && stem.len() >= 3
        {
            return stem;
        }
    }
    word
}

/// The words of a question.
pub(super) fn terms(question: &str) -> Vec<Term> {
    const MOST: usize = 24;
    let mut terms: Vec<Term> = Vec::new();
    let mut words = Vec::new();
    for word in split(question) {
        if word.is_ascii() {
            words.push(word);
            continue;
        }
        // Chinese has no spaces: the words that are known, else the whole.
        let known = SYNONYMS.iter().flat_map(|group| group.iter()).filter(|known| !known.is_ascii());
        let known: Vec<String> =
            known.filter(|known| word.contains(**known)).map(ToString::to_string).collect();
        if known.is_empty() { words.push(word) } else { words.extend(known) }
    }
    for word in words {
        if EMPTY.contains(&word.as_str()) || terms.iter().any(|term| term.word == word) || terms.len() >= MOST
        {
            continue;
        }
        let group = SYNONYMS.iter().find(|group| group.iter().any(|other| is_form_of(&word, other)));
        let others = group.map(|group| group.iter().copied().filter(|other| *other != word).collect());
        terms.push(Term { word, others: others.unwrap_or_default() });
    }
    terms
}

/// The words in a text or a name, in lower case: `parseHTTPRequest_v2` is `parse`, `http`, `request`, `v2`.
pub(super) fn split(text: &str) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    let mut words = Vec::new();
    let mut word = String::new();
    for (at, character) in characters.iter().enumerate() {
        if !character.is_alphanumeric() {
            if !word.is_empty() {
                words.push(std::mem::take(&mut word));
            }
            continue;
        }
        let previous = at.checked_sub(1).and_then(|at| characters.get(at));
        let next = characters.get(at + 1);
        let is_hump = character.is_uppercase()
            && (previous.is_some_and(|previous| previous.is_lowercase() || previous.is_numeric())
                || previous.is_some_and(|previous| previous.is_uppercase())
                    && next.is_some_and(|next| next.is_lowercase()));
        if is_hump && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        word.extend(character.to_lowercase());
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_apart_and_words_have_forms() {
        assert_eq!(split("parseHTTPRequest_v2"), ["parse", "http", "request", "v2"]);
        assert_eq!(split("删除 userName"), ["删除", "user", "name"]);
        for (word, of, expected) in [
            ("parser", "parse", true),
            ("parsing", "parsed", true),
            ("set", "setter", false),
            ("cat", "car", false),
        ] {
            assert_eq!(is_form_of(word, of), expected, "{word} {of}");
        }
        for (question, word) in [
            ("如何删除文件", "remove"),
            ("颜色", "color"),
            ("计算订单的价格", "price"),
            ("计算订单的价格", "order"),
            ("在哪里付款", "payment"),
            ("参数", "argument"),
        ] {
            let found = terms(question);
            assert!(found.iter().any(|term| term.matches(&[word.to_owned()]) > 0.0), "{question}: {found:?}");
        }
        // An English word that has one of Chinese stands for no other of English.
        assert!(terms("order").iter().all(|term| term.matches(&["price".to_owned()]) == 0.0));
    }
}
