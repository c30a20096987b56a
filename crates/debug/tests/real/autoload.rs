//! D08: scripts that a repository puts beside a program do not run in the debugger.

use std::process::Command;

use stepwell_debug::Outcome;
use stepwell_debug::adapters::AdapterKind;

use crate::lab::{Lab, Language};

/// Files that one debugger or another runs by itself, each of which leaves its name behind.
fn plant(lab: &Lab) -> std::path::PathBuf {
    let folder = lab.source.parent().unwrap().to_path_buf();
    let canary = folder.join("canary");
    let python = |name: &str| format!("open({:?}, 'a').write('{name} ')\n", canary.display().to_string());
    let shell = |name: &str| format!("printf '{name} ' >> {}", canary.display());
    let lldb = format!("script open({:?}, 'a').write('lldbinit ')\n", canary.display().to_string());
    for (name, text) in [
        (".gdbinit", format!("shell {}\n", shell("gdbinit"))),
        (".lldbinit", lldb.clone()),
        (".lldbinit-lldb-dap", lldb),
        ("shop-gdb.py", python("shop-gdb")),
        ("shop-gdb.gdb", format!("shell {}\n", shell("shop-gdb.gdb"))),
        ("shop.py-lldb.py", python("lldb")),
        ("sitecustomize.py", python("sitecustomize")),
        ("usercustomize.py", python("usercustomize")),
        ("debugpy.py", python("debugpy")),
        ("pydevd.py", python("pydevd")),
        (".pdbrc", format!("!{}", python("pdbrc"))),
        (".noderc.js", "require('fs').appendFileSync('canary', 'noderc ')\n".to_owned()),
        (".rdbgrc", format!("system({:?})\n", shell("rdbgrc"))),
    ] {
        std::fs::write(folder.join(name), text).unwrap();
    }
    // The twin: what is planted does leave a trace where it is run.
    assert!(Command::new("python3").arg(folder.join("shop-gdb.py")).status().unwrap().success());
    assert_eq!(std::fs::read_to_string(&canary).unwrap(), "shop-gdb ");
    std::fs::remove_file(&canary).unwrap();
    canary
}

pub async fn scripts_do_not_run(kind: AdapterKind, language: Language) {
    let Some(lab) = Lab::open_program(kind, language, "shop") else { return };
    let canary = plant(&lab);
    lab.debugger.set_breakpoint(lab.at("after")).await.unwrap();
    let session = lab.start("");
    let (stopped, _) = lab.stop(&session).await;
    stopped.resume(None).await.unwrap();
    let outcome = lab.outcome(&session).await;
    assert!(matches!(outcome, Outcome::Completed(_)), "{outcome:?}");
    let ran = std::fs::read_to_string(&canary).unwrap_or_default();
    assert_eq!(ran, "", "they ran");
}
