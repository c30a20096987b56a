//! One file per door: what each subcommand does.

pub mod adapters;
pub mod agents;
pub mod checkpoints;
pub mod commands;
pub mod config;
pub mod demo;
pub mod doctor;
pub mod env;
pub mod index;
pub mod mcp;
pub mod models;
pub mod modes;
pub mod permissions;
pub mod plan;
pub mod run;
pub mod sandbox;
pub mod serve;
pub mod skills;
pub mod tasks;
pub mod tool;
pub mod web;
pub mod why;
