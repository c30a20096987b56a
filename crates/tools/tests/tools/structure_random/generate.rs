//! Sources as people write them, by chance: types with members, functions, constants, comments, blank lines or none.

use stepwell_code_intel::languages::Language;

/// Numbers that look random and are the same in every run.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below another; 0 for 0.
    pub fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % most.max(1) as u64) as usize
    }
}

/// How a language writes its pieces; `NAME` stands for a fresh name, a line break for one in its indentation.
struct Pieces {
    ending: &'static str,
    head: &'static str,
    items: &'static [&'static str],
    type_open: &'static str,
    members: &'static [&'static str],
    type_close: &'static str,
    unit: &'static str,
    comments: &'static [&'static str],
}

fn pieces(language: Language) -> Pieces {
    match language {
        Language::Python => Pieces {
            ending: "py",
            head: "import os\n",
            items: &[
                "def NAME(a, b=2):\n    \"\"\"Adds.\"\"\"\n    return a + b\n",
                "NAME = 1\n",
                "@wrapped\ndef NAME():\n    return other(1)\n",
                "async def NAME(x):\n    text = \"\"\"\n  far left\n\"\"\"\n    return text\n",
            ],
            type_open: "class NAME(Base):\n",
            members: &[
                "def NAME(self):\n    return self.value()\n",
                "NAME = 2\n",
                "@property\ndef NAME(self):\n    return 3\n",
            ],
            type_close: "",
            unit: "    ",
            comments: &["# About it.\n", "# One.\n# Two.\n"],
        },
        Language::Rust => Pieces {
            ending: "rs",
            head: "use std::io;\n",
            items: &[
                "pub fn NAME(a: u8) -> u8 {\n    call(a)\n}\n",
                "const NAME: u8 = 1;\n",
                "#[derive(Debug)]\npub struct NAME {\n    a: u8,\n    b: u8,\n}\n",
                "enum NAME {\n    A,\n    B(u8),\n}\n",
                "fn NAME() -> &'static str {\n    r\"\n  far left\n\"\n}\n",
            ],
            type_open: "impl NAME {\n",
            members: &["fn NAME(&self) -> u8 {\n    self.a.call(1)\n}\n", "const NAME: u8 = 3;\n"],
            type_close: "}\n",
            unit: "    ",
            comments: &["/// About it.\n", "/// One.\n#[inline]\n", "// A note.\n"],
        },
        Language::Go => Pieces {
            ending: "go",
            head: "package p\n\nimport \"os\"\n",
            items: &[
                "func NAME(a int) int {\n\treturn call(a)\n}\n",
                "var NAME = 1\n",
                "type NAME struct {\n\ta int\n\tb string\n}\n",
                "func (o *Order) NAME() {\n\to.call(`\n  far left`)\n}\n",
            ],
            type_open: "type NAME interface {\n",
            members: &["NAME(a int) error\n"],
            type_close: "}\n",
            unit: "\t",
            comments: &["// NAME is it.\n", "/* About it. */\n"],
        },
        Language::C => Pieces {
            ending: "c",
            head: "#include <stdio.h>\n",
            items: &[
                "static int NAME(int a)\n{\n    return call(a, 1);\n}\n",
                "int NAME = 1;\n",
                "enum NAME { FIRST_NAME, SECOND_NAME };\n",
                "int NAME(void);\n",
            ],
            type_open: "struct NAME {\n",
            members: &["int NAME;\n", "char *NAME;\n"],
            type_close: "};\n",
            unit: "    ",
            comments: &["/* About it. */\n", "// One.\n"],
        },
        Language::Cpp => Pieces {
            ending: "cpp",
            head: "#include <vector>\n",
            items: &[
                "int NAME(int a) {\n  return call(a);\n}\n",
                "template <typename T>\nT NAME(T a) {\n  return a;\n}\n",
                "namespace NAME {\nint x() { return 1; }\n}\n",
                "const int NAME = 1;\n",
            ],
            type_open: "class NAME {\n public:\n",
            members: &[
                "int NAME() { return call(1); }\n",
                "int NAME;\n",
                "void NAME(int a) const {\n  call(a);\n}\n",
            ],
            type_close: "};\n",
            unit: "  ",
            comments: &["// About it.\n", "/** Doc. */\n"],
        },
        Language::Java => Pieces {
            ending: "java",
            head: "package p;\n\nimport java.util.List;\n",
            items: &["interface NAME {\n    int f(int a);\n}\n", "enum NAME {\n    A,\n    B\n}\n"],
            type_open: "public class NAME {\n",
            members: &[
                "public int NAME(int a) {\n    return call(a);\n}\n",
                "private int NAME = 1;\n",
                "@Override\npublic void NAME() {\n    this.call();\n}\n",
            ],
            type_close: "}\n",
            unit: "    ",
            comments: &["/** About it. */\n", "// One.\n"],
        },
        Language::TypeScript | Language::Tsx | Language::JavaScript => {
            let ending = match language {
                Language::TypeScript => "ts",
                Language::Tsx => "tsx",
                _ => "js",
            };
            Pieces {
                ending,
                head: "import os from 'os';\n",
                items: &[
                    "export function NAME(a, b) {\n  return call(a, b);\n}\n",
                    "const NAME = (a) => a + 1;\n",
                    "export const NAME = { one: 1, two() { return 2; } };\n",
                    "function NAME() {\n  return `\n far left ${call(1)}`;\n}\n",
                    "let NAME = 1, other_NAME = 2;\n",
                ],
                type_open: "export class NAME {\n",
                members: &[
                    "NAME(a) {\n  return this.call(a);\n}\n",
                    "NAME = 1;\n",
                    "static NAME() { return 1; }\n",
                    "get NAME() {\n  return 1;\n}\n",
                ],
                type_close: "}\n",
                unit: "  ",
                comments: &["/** About it. */\n", "// One.\n// Two.\n"],
            }
        }
        other => unreachable!("no sources are made of {other:?}"),
    }
}

/// A file of a language: its path and its text.
pub fn source(language: Language, random: &mut Random, round: usize) -> (String, String) {
    let pieces = pieces(language);
    let mut names = 0;
    let mut text = pieces.head.to_owned();
    let gap = random.below(3);
    for _ in 0..6 + random.below(6) {
        let is_type = random.below(3) == 0;
        text.push_str(&"\n".repeat(gap));
        if random.below(2) == 0 {
            text.push_str(pieces.comments[random.below(pieces.comments.len())]);
        }
        names += 1;
        if !is_type {
            let item = pieces.items[random.below(pieces.items.len())];
            text.push_str(&item.replace("NAME", &format!("item_{names}")));
            continue;
        }
        text.push_str(&pieces.type_open.replace("NAME", &format!("Type{names}")));
        let inner = random.below(2);
        for nth in 0..=random.below(4) {
            names += 1;
            if nth > 0 {
                text.push_str(&"\n".repeat(inner));
            }
            let comment = if random.below(3) == 0 && language != Language::Go {
                pieces.comments[random.below(pieces.comments.len())]
            } else {
                ""
            };
            let member = pieces.members[random.below(pieces.members.len())]
                .replace("NAME", &format!("member_{names}"));
            for line in format!("{comment}{member}").lines() {
                text.push_str(&format!("{}{line}\n", pieces.unit));
            }
        }
        text.push_str(pieces.type_close);
    }
    if random.below(4) == 0 {
        text.truncate(text.trim_end().len());
    }
    if random.below(4) == 0 {
        text = text.replace('\n', "\r\n");
    }
    (format!("made/round{round}/m{round}.{}", pieces.ending), text.replace("made_", ""))
}
