//! What skills were when they were installed or last loaded, so that a change is told.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use stepwell_tools::library::SkillPin;
use stepwell_workspace::files::{self, Privacy};

use crate::settings::Places;

/// Skills that are remembered; the oldest names go first.
const MOST: usize = 2000;

/// The pins, by folder.
type Pins = BTreeMap<PathBuf, SkillPin>;

fn file(places: &Places) -> PathBuf {
    places.shared.join("skill-pins.json")
}

fn read(places: &Places) -> Pins {
    // A file that cannot be read only forgets what was installed.
    let text = files::read_if_exists(&file(places)).ok().flatten().unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

fn write(places: &Places, mut pins: Pins) -> Result<(), String> {
    pins.retain(|folder, _| folder.is_dir());
    while pins.len() > MOST {
        pins.pop_first();
    }
    let text = serde_json::to_string_pretty(&pins).map_err(|error| error.to_string())?;
    files::create_private_dir(&places.shared).map_err(|error| error.to_string())?;
    files::write_atomic(&file(places), text.as_bytes(), Privacy::Private).map_err(|error| error.to_string())
}

/// What is known of the skill in a folder.
pub fn pin_of(places: &Places, folder: &Path) -> Option<SkillPin> {
    read(places).remove(folder)
}

/// Remembers what the skill in a folder is now.
pub fn pin(places: &Places, pin: &SkillPin) -> Result<(), String> {
    let mut pins = read(places);
    pins.insert(pin.folder.clone(), pin.clone());
    write(places, pins)
}

/// Forgets the skill of a folder.
pub fn forget(places: &Places, folder: &Path) -> Result<(), String> {
    let mut pins = read(places);
    pins.remove(folder);
    write(places, pins)
}
