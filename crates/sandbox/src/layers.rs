//! What the machine offers to confine commands with.

use std::path::Path;

use stepwell_workspace::process::{capture_text, find_program};

use crate::init::{LAUNCHER_WORD, PROBE, Probed};
use crate::plan::Launch;

/// One wall, and whether it stands.
#[derive(Clone, Debug)]
pub struct Layer {
    pub name: &'static str,
    pub holds: bool,
    pub detail: String,
    pub hint: Option<&'static str>,
}

/// All walls of this machine.
#[derive(Clone, Debug)]
pub struct Layers {
    all: Vec<Layer>,
    launch: Launch,
    missing: Option<String>,
}

impl Layers {
    pub(crate) fn probe(launcher: &Path, workspace: &Path) -> Self {
        let printed = launcher.to_str().and_then(|launcher| capture_text(launcher, &[LAUNCHER_WORD, PROBE]));
        let probed: Option<Probed> = printed.and_then(|text| serde_json::from_str(&text).ok());
        let bubblewrap = find_program("bwrap", workspace);
        match probed {
            Some(probed) => Self::of(&probed, bubblewrap.as_deref(), works),
            None => Self::nothing(launcher),
        }
    }

    /// What follows from what was found. `bubblewrap_works` is asked only where its answer matters.
    fn of(probed: &Probed, bubblewrap: Option<&Path>, bubblewrap_works: impl Fn(&Path) -> bool) -> Self {
        let own = probed.user_namespace.is_ok() && probed.network_namespace.is_ok() && probed.mounts.is_ok();
        let stand_in = bubblewrap.filter(|program| !own && bubblewrap_works(program));
        let launch = match (own, stand_in) {
            (true, _) => Launch::Own,
            (false, Some(program)) => Launch::Bubblewrap { program: program.into() },
            (false, None) => Launch::WithoutNamespaces,
        };
        let namespaces = launch != Launch::WithoutNamespaces;
        let how = match &launch {
            Launch::Own => "made by Stepwell itself".to_owned(),
            Launch::Bubblewrap { program } => format!("made by {}", program.display()),
            Launch::WithoutNamespaces => String::new(),
        };
        let told = |tried: &Result<(), String>| match tried {
            _ if namespaces => how.clone(),
            Ok(()) => "possible, but useless without the others".into(),
            Err(problem) => problem.clone(),
        };
        let opened = "allow user namespaces for this user (sysctl, AppArmor or the container's settings), or \
                      install bubblewrap where it is allowed to make them";
        let namespace = |name, tried| Layer {
            name,
            holds: namespaces,
            detail: told(tried),
            hint: (!namespaces).then_some(opened),
        };
        let landlock = probed.landlock > 0;
        let counted = match (probed.own_process_numbers, probed.is_root) {
            (true, _) => "by the process namespace",
            (false, false) => "by the user's own limit",
            (false, true) => "by looking five times a second: the kernel before 6.14 does not bound root",
        };
        let all = vec![
            namespace("user namespace", &probed.user_namespace),
            namespace("files and processes", &probed.mounts),
            namespace("network namespace", &probed.network_namespace),
            Layer {
                name: "Landlock",
                holds: landlock,
                detail: if landlock {
                    format!("version {}", probed.landlock)
                } else {
                    "not in this kernel, or switched off".into()
                },
                hint: (!landlock).then_some("Linux 5.13 or newer, with `landlock` in its `lsm=` setting"),
            },
            Layer {
                name: "seccomp",
                holds: probed.seccomp.is_ok(),
                detail: probed
                    .seccomp
                    .clone()
                    .err()
                    .unwrap_or_else(|| "system calls that open walls are refused".into()),
                hint: None,
            },
            Layer { name: "process limit", holds: namespaces, detail: counted.into(), hint: None },
            Layer {
                name: "bubblewrap",
                holds: bubblewrap.is_some(),
                detail: match bubblewrap {
                    Some(path) if own => format!("{}, not needed", path.display()),
                    Some(path) => path.display().to_string(),
                    None => "not installed".into(),
                },
                hint: None,
            },
        ];
        Self { missing: missing(probed, &launch), all, launch }
    }

    /// The launcher does not answer: there is no wall at all, and none can be made.
    fn nothing(launcher: &Path) -> Self {
        let detail = format!("the launcher `{}` does not answer", launcher.display());
        Self {
            all: vec![Layer { name: "launcher", holds: false, detail: detail.clone(), hint: None }],
            launch: Launch::WithoutNamespaces,
            missing: Some(detail),
        }
    }

    pub fn all(&self) -> &[Layer] {
        &self.all
    }

    /// What a command could do for want of a layer; `None` when it is confined as promised.
    pub fn missing(&self) -> Option<String> {
        self.missing.clone()
    }

    /// Whether a command has files, processes and a network of its own.
    pub fn has_namespaces(&self) -> bool {
        self.launch != Launch::WithoutNamespaces
    }

    pub(crate) fn launch(&self) -> &Launch {
        &self.launch
    }
}

fn missing(probed: &Probed, launch: &Launch) -> Option<String> {
    let mut open = Vec::new();
    if *launch == Launch::WithoutNamespaces {
        let problem = [&probed.user_namespace, &probed.network_namespace, &probed.mounts]
            .into_iter()
            .find_map(|tried| tried.as_ref().err())
            .map_or("", String::as_str);
        open.push(format!(
            "there are no namespaces ({problem}): the command sees all processes and files of the user, hidden \
             ones included, and can change the project's protected files"
        ));
        if probed.landlock == 0 {
            open.push("there is no Landlock: the command can write wherever the user can".into());
        }
    }
    if let Err(problem) = &probed.seccomp {
        open.push(format!("system calls are not filtered ({problem})"));
        if *launch == Launch::WithoutNamespaces {
            open.push("the command has the network".into());
        }
    }
    (!open.is_empty()).then(|| open.join("; "))
}

/// Whether bubblewrap can make what is needed.
fn works(program: &Path) -> bool {
    let Some(program) = program.to_str() else { return false };
    let trial = [
        "--unshare-all",
        "--cap-drop",
        "ALL",
        "--ro-bind",
        "/",
        "/",
        "--proc",
        "/proc",
        "--dev",
        "/dev",
        // Found on every machine, whatever the search path is.
        "/bin/sh",
        "-c",
        ":",
    ];
    capture_text(program, &trial).is_some()
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(change: impl FnOnce(&mut Probed), bubblewrap: Option<&str>, works: bool, expected: Expect) {
        let mut probed = Probed {
            user_namespace: Ok(()),
            network_namespace: Ok(()),
            mounts: Ok(()),
            landlock: 7,
            seccomp: Ok(()),
            own_process_numbers: true,
            is_root: false,
        };
        change(&mut probed);
        let layers = Layers::of(&probed, bubblewrap.map(Path::new), |_| works);
        expected.assert_eq(&format!(
            "{:?}: {}",
            layers.launch,
            layers.missing().unwrap_or("nothing is missing".into())
        ));
    }

    #[test]
    fn what_is_missing_is_said_and_bubblewrap_stands_in() {
        let denied =
            |probed: &mut Probed| probed.user_namespace = Err("make a user namespace: denied".into());
        check(|_| {}, Some("/usr/bin/bwrap"), true, expect!["Own: nothing is missing"]);
        check(
            denied,
            Some("/usr/bin/bwrap"),
            true,
            expect![[r#"Bubblewrap { program: HostPath("/usr/bin/bwrap") }: nothing is missing"#]],
        );
        check(
            denied,
            Some("/usr/bin/bwrap"),
            false,
            expect![
                "WithoutNamespaces: there are no namespaces (make a user namespace: denied): the command sees all processes and files of the user, hidden ones included, and can change the project's protected files"
            ],
        );
        check(
            |probed| {
                denied(probed);
                probed.landlock = 0;
                probed.seccomp = Err("no filter".into());
            },
            None,
            true,
            expect![
                "WithoutNamespaces: there are no namespaces (make a user namespace: denied): the command sees all processes and files of the user, hidden ones included, and can change the project's protected files; there is no Landlock: the command can write wherever the user can; system calls are not filtered (no filter); the command has the network"
            ],
        );
    }

    #[test]
    fn a_launcher_that_does_not_answer_confines_nothing() {
        let layers = Layers::probe(Path::new("/no/launcher"), Path::new("/"));
        assert!(layers.missing().is_some_and(|missing| missing.contains("/no/launcher")));
    }
}
