//! Tools for skills: `skill_loader` and `skill_installer`.

mod fetch;
mod install;
mod load;

pub use fetch::{FetchedSkills, SkillSource, find_skills};
pub use install::{SkillInstaller, copy_skill};
pub use load::SkillLoader;
