//! One gate for definitions and calls: sets, deferred tools, stable prefixes.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};
use stepwell_protocol::{Preview, Risk};

use super::*;
use crate::{DynOutput, DynPlan, DynTool, Planned, ToolContext, ToolSpec};

struct Plain {
    name: &'static str,
    category: Category,
    risk: Risk,
    loads: bool,
}

#[async_trait]
impl DynTool for Plain {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: self.name,
            aliases: &[],
            category: self.category,
            risk: self.risk,
            time_limit: Duration::from_secs(1),
            output_limit: 1000,
        }
    }

    fn description(&self) -> String {
        format!("Does {}. And more.", self.name)
    }

    fn input_schema(&self) -> Value {
        json!({"type": "object", "properties": {}})
    }

    fn output_schema(&self) -> Option<Value> {
        None
    }

    fn loads_deferred(&self) -> bool {
        self.loads
    }

    fn guidance(&self) -> Option<&'static str> {
        (self.category == Category::Debug).then_some("Look before you guess.")
    }

    async fn plan(&self, _: &ToolContext, _: Value) -> Result<Planned<DynPlan>, ToolError> {
        Ok(Planned::ready(Preview::default(), DynPlan::new(())))
    }

    async fn run(&self, _: &ToolContext, _: DynPlan) -> Result<DynOutput, ToolError> {
        Ok(DynOutput::default())
    }
}

fn registry() -> Registry {
    let registry = Registry::new();
    for (name, category, risk, loads) in [
        ("bash", Category::Shell, Risk::Execute, false),
        ("debug_trace", Category::Debug, Risk::Execute, false),
        ("debug_watch", Category::Debug, Risk::Execute, false),
        ("read", Category::Files, Risk::Read, false),
        ("tool_search", Category::Composition, Risk::Control, true),
        ("write", Category::Files, Risk::Write, false),
    ] {
        registry.register(Arc::new(Plain { name, category, risk, loads })).unwrap();
    }
    registry
}

fn names(gate: &ToolGate, registry: &Registry) -> String {
    let definitions = gate.definitions(registry);
    definitions.iter().map(|definition| definition.name.as_str()).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_set_decides_alike_about_what_is_seen_and_what_is_called() {
    let registry = registry();
    for (set, expected) in [
        (ToolSet::all(), "bash debug_trace debug_watch read write"),
        (ToolSet::all().with_max_risk(Risk::Read), "read"),
        (ToolSet::all().with_categories([Category::Files]), "read write"),
        (ToolSet::all().with_categories([Category::Files]).without("write"), "read"),
        (ToolSet::all().with_names(["bash".to_owned()]), "bash"),
    ] {
        let gate = ToolGate::new(set);
        assert_eq!(names(&gate, &registry), expected);
        for tool in registry.list(None, None).iter().filter(|tool| !tool.tool().loads_deferred()) {
            let seen = expected.split(' ').any(|name| name == tool.name());
            assert_eq!(gate.check(tool).is_ok(), seen, "{}", tool.name());
        }
    }
}

#[test]
fn deferred_tools_are_listed_by_name_and_appended_once_loaded() {
    let registry = registry();
    let gate = ToolGate::new(ToolSet::all().deferring([Category::Debug], ["write".to_owned()]));
    assert_eq!(names(&gate, &registry), "bash read tool_search");
    let before = gate.definitions(&registry);
    assert!(Arc::ptr_eq(&before, &gate.definitions(&registry)), "the same object until something changes");
    assert!(
        before[2]
            .description
            .ends_with("Tools that can be loaded:\n- debug: debug_trace, debug_watch\n- files: write")
    );
    gate.load(&registry.get("write").unwrap());
    gate.load(&registry.get("debug_trace").unwrap());
    let after = gate.definitions(&registry);
    assert_eq!(names(&gate, &registry), "bash read tool_search write debug_trace");
    assert_eq!(after[..before.len()], before[..], "what is cached of a request stays valid");
    assert_eq!(gate.deferred(&registry).len(), 1);
}

#[tokio::test]
async fn tools_of_sources_stand_behind_the_built_in_ones_and_are_deferred_beyond_the_budget() {
    let registry = registry();
    let plain = |name: &'static str| -> Arc<dyn DynTool> {
        Arc::new(Plain { name, category: Category::External, risk: Risk::Execute, loads: false })
    };
    let source = |name: &str, tools: Vec<Arc<dyn DynTool>>| Arc::new(crate::StaticSource::new(name, tools));
    let built_in = "bash debug_trace debug_watch read write";
    let gate = ToolGate::new(ToolSet::all().with_source_tokens(40));
    assert_eq!(names(&gate, &registry), built_in);
    registry.add_source(source("one", vec![plain("a_first")])).await.unwrap();
    assert_eq!(names(&gate, &registry), format!("{built_in} a_first"));
    registry.add_source(source("two", vec![plain("a_large"), plain("a_larger")])).await.unwrap();
    assert_eq!(
        names(&gate, &registry),
        format!("{built_in} a_first tool_search"),
        "as a whole or not at all"
    );
    let before = gate.definitions(&registry);
    gate.load(&registry.get("a_large").unwrap());
    assert_eq!(names(&gate, &registry), format!("{built_in} a_first tool_search a_large"));
    let after = gate.definitions(&registry);
    assert_eq!(after[..before.len()], before[..], "what is cached of a request stays valid");
    registry.add_source(source("three", vec![plain("a")])).await.unwrap();
    assert_eq!(
        names(&gate, &registry),
        format!("{built_in} a_first tool_search a_large a"),
        "the smaller one fits"
    );
}

#[test]
fn guidance_comes_with_the_tools_it_is_about() {
    let registry = registry();
    let gate = ToolGate::new(ToolSet::all());
    assert_eq!(gate.guidance(&registry), ["Look before you guess."]);
    gate.replace(ToolSet::all().with_categories([Category::Files]));
    assert!(gate.guidance(&registry).is_empty());
}
