//! Names, sources and the stable set of definitions.

use async_trait::async_trait;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use stepwell_protocol::{Preview, Risk};
use tokio::sync::watch;

use super::*;
use crate::{DynOutput, DynPlan, Planned, ToolContext, ToolError, ToolGate, ToolSpec};

/// A tool with a name made at run time.
struct Named(String, &'static [&'static str]);

#[async_trait]
impl DynTool for Named {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "named",
            aliases: self.1,
            category: Category::External,
            risk: Risk::Read,
            time_limit: Duration::from_secs(1),
            output_limit: 1000,
        }
    }

    fn name(&self) -> &str {
        &self.0
    }

    fn description(&self) -> String {
        format!("Tool {}", self.0)
    }

    fn input_schema(&self) -> Value {
        json!({"type": "object", "properties": {"a": {"type": "string", "x-aliases": ["b"]}}})
    }

    fn output_schema(&self) -> Option<Value> {
        None
    }

    async fn plan(&self, _: &ToolContext, _: Value) -> Result<Planned<DynPlan>, ToolError> {
        Ok(Planned::ready(Preview::default(), DynPlan::new(())))
    }

    async fn run(&self, _: &ToolContext, _: DynPlan) -> Result<DynOutput, ToolError> {
        Ok(DynOutput::default())
    }
}

fn tool(name: &str) -> Arc<dyn DynTool> {
    Arc::new(Named(name.to_owned(), &[]))
}

fn names(registry: &Registry) -> String {
    registry.names().join(" ")
}

#[test]
fn names_aliases_and_case() {
    let registry = Registry::new();
    registry.register(Arc::new(Named("read".into(), &["read_file"]))).expect("registered");
    registry.register(tool("write")).expect("registered");
    for (name, expected) in
        [("read", "read"), ("READ", "read"), ("read_file", "read"), ("Read_File", "read"), ("write", "write")]
    {
        assert_eq!(
            registry.get(name).map(|entry| entry.name().to_owned()).as_deref(),
            Some(expected),
            "{name}"
        );
    }
    assert!(registry.get("nothing").is_none());
    assert_eq!(registry.suggestions("raed_file"), ["read"]);
    assert_eq!(registry.register(tool("read")), Err(RegistryError::NameTaken { name: "read".into() }));
    assert!(matches!(registry.register(tool("a b")), Err(RegistryError::BadName { .. })));
    registry.unregister("read_file").expect("known");
    assert!(registry.get("read").is_none());
    assert!(registry.unregister("read").is_err());
}

#[test]
fn definitions_are_sorted_and_the_same_object_until_the_set_changes() {
    let registry = Registry::new();
    registry.register_all([tool("b"), tool("a")]).expect("registered");
    let gate = ToolGate::default();
    let first = gate.definitions(&registry);
    assert_eq!(first.iter().map(|definition| definition.name.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(first[0].input_schema, json!({"type": "object", "properties": {"a": {"type": "string"}}}));
    registry.enable("a").expect("known");
    assert!(Arc::ptr_eq(&first, &gate.definitions(&registry)));
    registry.disable("a").expect("known");
    assert_eq!(gate.definitions(&registry).len(), 1);
    registry.enable("a").expect("known");
    assert_eq!(*gate.definitions(&registry), *first);
    assert_eq!(registry.list(Some(Category::External), Some(ToolStatus::Enabled)).len(), 2);
    assert_eq!(registry.list(Some(Category::Files), None).len(), 0);
}

struct Changing {
    both: AtomicBool,
    fails: AtomicBool,
    tools: [Arc<dyn DynTool>; 2],
    changes: watch::Sender<u64>,
}

#[async_trait]
impl ToolSource for Changing {
    #[allow(clippy::unnecessary_literal_bound, reason = "the trait has it so")]
    fn name(&self) -> &str {
        "my server"
    }

    async fn tools(&self) -> Result<Vec<Arc<dyn DynTool>>, SourceError> {
        if self.fails.load(Ordering::SeqCst) {
            return Err(SourceError::Unavailable { name: "my server".into(), reason: "gone".into() });
        }
        let count = if self.both.load(Ordering::SeqCst) { 2 } else { 1 };
        Ok(self.tools[..count].to_vec())
    }

    fn changes(&self) -> Vec<watch::Receiver<u64>> {
        vec![self.changes.subscribe()]
    }
}

#[tokio::test]
async fn t07_sources_come_change_and_go_and_never_shadow() {
    let registry = Arc::new(Registry::new());
    registry.register(Arc::new(Named("read".into(), &["read_file"]))).expect("registered");
    let source = Arc::new(Changing {
        both: AtomicBool::new(false),
        fails: AtomicBool::new(false),
        tools: [tool("read"), tool("fetch")],
        changes: watch::channel(0).0,
    });
    registry.add_source(Arc::clone(&source) as Arc<dyn ToolSource>).await.expect("plugged");
    assert_eq!(names(&registry), "my_server__read read");
    assert!(registry.get("read").expect("built in").source().is_none());
    assert!(registry.add_source(Arc::clone(&source) as Arc<dyn ToolSource>).await.is_err());

    let generation = registry.generation();
    assert!(registry.refresh().await.is_empty());
    assert_eq!(registry.generation(), generation, "nothing changed");

    let follower = {
        let registry = Arc::clone(&registry);
        tokio::spawn(async move { registry.follow_source("my server").await })
    };
    while source.changes.receiver_count() == 0 {
        tokio::task::yield_now().await;
    }
    registry.disable("my_server__read").expect("known");
    source.both.store(true, Ordering::SeqCst);
    source.changes.send_modify(|version| *version += 1);
    while registry.get("fetch").is_none() {
        tokio::task::yield_now().await;
    }
    assert_eq!(names(&registry), "fetch read", "a disabled tool stays disabled");

    source.fails.store(true, Ordering::SeqCst);
    assert_eq!(registry.refresh().await.len(), 1);
    assert_eq!(names(&registry), "fetch read", "a failing source keeps its tools");
    assert!(registry.remove_source("my server"));
    assert_eq!(names(&registry), "read");
    source.changes.send_modify(|version| *version += 1);
    follower.await.expect("joined");
}

#[tokio::test(start_paused = true)]
async fn cached_and_composite_sources() {
    let changing = Arc::new(Changing {
        both: AtomicBool::new(false),
        fails: AtomicBool::new(false),
        tools: [tool("one"), tool("two")],
        changes: watch::channel(0).0,
    });
    let cached: Arc<dyn ToolSource> =
        Arc::new(CachedSource::new(Arc::clone(&changing) as Arc<dyn ToolSource>, Duration::from_mins(1)));
    let plain: Arc<dyn ToolSource> = Arc::new(StaticSource::new("static", vec![tool("one"), tool("three")]));
    let both = CompositeSource::new("both", vec![Arc::clone(&cached), plain]);
    let count = async || both.tools().await.map(|tools| tools.len()).unwrap_or_default();
    assert_eq!(count().await, 2, "the first that has a name keeps it");
    changing.both.store(true, Ordering::SeqCst);
    assert_eq!(count().await, 2, "cached");
    tokio::time::advance(Duration::from_secs(61)).await;
    assert_eq!(count().await, 3);
    changing.fails.store(true, Ordering::SeqCst);
    tokio::time::advance(Duration::from_secs(61)).await;
    assert_eq!(count().await, 3, "the last good answer stands");
}
