//! Tools that run tests and read what they cover.

mod changed;
mod coverage;
mod coverage_formats;
mod detect;
mod framework;
mod invocation;
mod last_failures;
mod outcome;
mod places;
mod report_folder;
mod reports;
mod run_tests;

pub use coverage::AnalyzeCoverage;
pub use run_tests::RunTests;
