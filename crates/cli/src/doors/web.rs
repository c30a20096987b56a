//! `stepwell web`: opens the page in a browser, and starts the server where none runs.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use stepwell_workspace::files::{self, Privacy};
use stepwell_workspace::process::{find_program, start_apart};

use crate::args::WebArgs;
use crate::doors::serve::{Claim, Registry, RunningServer, serve, serve_folder, tell_link};
use crate::exit::Exit;
use crate::language::said;
use crate::settings::Places;
use crate::terminal::{error_line, out_line};

/// Programs that open a file with the person's browser.
const OPENERS: &[&str] = &["xdg-open", "open", "wslview"];
/// How long a link is good for; its file is of no use afterwards.
const LINK_LIFE: Duration = Duration::from_mins(2);

pub async fn run(args: WebArgs) -> anyhow::Result<Exit> {
    let places = Places::find()?;
    let folder = crate::assemble::workspace_root(args.at.cwd.as_deref())?;
    match Registry::of(&places)?.claim().await? {
        Claim::Running(running) => {
            let running = RunningServer::verified(&places, running).await?;
            out_line(&running.address());
            show(&places, &args, &folder, &running.link(&folder).await?);
            Ok(Exit::Done)
        }
        Claim::Ours(place) => {
            let served = serve(&places, &args.at, &folder, place).await?;
            out_line(&served.address());
            show(&places, &args, &folder, &served.link());
            served.until_stopped().await
        }
    }
}

/// Opens a link and prints it, in case no browser appears.
fn show(places: &Places, args: &WebArgs, folder: &Path, link: &str) {
    tell_link(link);
    if args.no_open {
        return;
    }
    if let Err(error) = open(places, folder, link) {
        tracing::info!(%error, "no browser was started");
        error_line(&said("no browser could be started; open the link by hand"));
    }
}

/// Every user of a machine can see the arguments of its programs. So the browser is given a file that only this person can
/// read, and that leads to the link.
fn open(places: &Places, workspace: &Path, link: &str) -> anyhow::Result<()> {
    let opener = OPENERS.iter().find_map(|name| find_program(name, workspace));
    let opener = opener.ok_or_else(|| anyhow::anyhow!("none of {} is installed", OPENERS.join(", ")))?;
    let folder = serve_folder(places);
    remove_old(&folder);
    let path = folder.join(format!("open-{:016x}.html", rand::random::<u64>()));
    let page = format!(
        "<!doctype html><meta charset=\"utf-8\"><meta name=\"referrer\" content=\"no-referrer\">\
         <meta http-equiv=\"refresh\" content=\"0;url={}\"><title>Stepwell</title>",
        link.replace('&', "&amp;").replace('"', "&quot;")
    );
    files::write_atomic(&path, page.as_bytes(), Privacy::Private)?;
    Ok(start_apart(&opener, &path)?)
}

/// Removes the files of links that are not good any more.
fn remove_old(folder: &Path) {
    let is_old = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let written = files::metadata(path).ok().and_then(|metadata| metadata.modified().ok());
        let age = written.and_then(|written| SystemTime::now().duration_since(written).ok());
        name.starts_with("open-") && age.is_some_and(|age| age > LINK_LIFE)
    };
    for path in files::list_dir(folder).unwrap_or_default().iter().filter(|path| is_old(path)) {
        files::remove_file(path).ok();
    }
}
