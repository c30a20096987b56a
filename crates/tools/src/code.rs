//! Tools that know the code: what files define, where names are defined and used, who calls whom, what code is about.
//! One service holds the index of a workspace.

mod graphs;
mod names;
mod outlines;
mod parse;
mod service;

use std::sync::Arc;

use stepwell_tool_runtime::DynTool;

pub use service::{CodeService, LONGEST_CALL};

/// Declares a tool whose work a function does with the index: its type, its name, its other names, its input, the
/// function. With `asking_servers` the function also gets what a language server said, where the input wishes for one;
/// with `with_embeddings` the vector of its `query`.
macro_rules! code_tool {
    ($tool:ident, $name:literal, $aliases:expr, $input:ty, $run:ident) => {
        code_tool!(@ $tool, $name, $aliases, $input, |service, ctx, input| {
            service.ask(ctx, move |index| $run(index, &input)).await
        });
    };
    ($tool:ident, $name:literal, $aliases:expr, $input:ty, $run:ident, asking_servers) => {
        code_tool!(@ $tool, $name, $aliases, $input, |service, ctx, input| {
            let target = input.target.clone();
            let asked = move |index: &stepwell_code_intel::index::Index| target.asked(index);
            let said = service.ask_server(ctx, input.source, asked, input.question()).await?;
            service.ask(ctx, move |index| $run(index, &input, said.clone())).await
        });
    };
    ($tool:ident, $name:literal, $aliases:expr, $input:ty, $run:ident, with_embeddings) => {
        code_tool!(@ $tool, $name, $aliases, $input, |service, ctx, input| {
            let prepared = service.sought(ctx, &input.query).await?;
            service.ask(ctx, move |index| $run(index, &input, prepared.as_ref())).await
        });
    };
    (@ $tool:ident, $name:literal, $aliases:expr, $input:ty, |$service:ident, $ctx:ident, $given:ident| $run:block) => {
        pub struct $tool(pub std::sync::Arc<crate::code::service::CodeService>);

        #[async_trait::async_trait]
        impl stepwell_tool_runtime::Tool for $tool {
            type Input = $input;
            type Plan = $input;
            type Output = crate::code::service::Told;

            fn spec(&self) -> stepwell_tool_runtime::ToolSpec {
                stepwell_tool_runtime::ToolSpec {
                    name: $name,
                    aliases: $aliases,
                    category: stepwell_tool_runtime::Category::Code,
                    risk: stepwell_protocol::Risk::Read,
                    time_limit: crate::code::service::LONGEST_CALL,
                    output_limit: 50 * 1024,
                }
            }

            async fn plan(
                &self,
                _: &stepwell_tool_runtime::ToolContext,
                input: Self::Input,
            ) -> stepwell_tool_runtime::Planned<Self::Plan> {
                let (subject, paths) = input.subject();
                let preview = stepwell_protocol::Preview {
                    summary: format!("Ask `{}` about {subject}", $name),
                    paths,
                    ..stepwell_protocol::Preview::default()
                };
                stepwell_tool_runtime::Planned::ready(preview, input)
            }

            async fn run(
                &self,
                $ctx: &stepwell_tool_runtime::ToolContext,
                $given: Self::Plan,
            ) -> Result<Self::Output, stepwell_tool_runtime::ToolError> {
                let $service = &self.0;
                $run
            }
        }
    };
}
pub(crate) use code_tool;

/// All tools of this kind.
pub fn tools(shared: &Arc<CodeService>) -> Vec<Arc<dyn DynTool>> {
    let service = || Arc::clone(shared);
    vec![
        Arc::new(parse::AstParse(shared.workspace.clone())),
        Arc::new(outlines::AstFindSymbols(service())),
        Arc::new(outlines::AstExtractFunction(service())),
        Arc::new(outlines::AstGetImports(service())),
        Arc::new(outlines::CodeIndexBuild(service())),
        Arc::new(names::FindDefinition(service())),
        Arc::new(names::FindReferences(service())),
        Arc::new(names::CodebaseSearch(service())),
        Arc::new(graphs::CallGraph(service())),
        Arc::new(graphs::DependencyGraph(service())),
    ]
}
