//! Tools that answer questions about code. Each asks [`stepwell_code_intel::ask`] and renders the answer for the model;
//! programs get the answer itself. One service holds the index of a workspace.

mod answer;
mod below;
mod graphs;
mod names;
mod outlines;
mod parse;
mod service;

use std::sync::Arc;

use stepwell_tool_runtime::DynTool;

pub(crate) use answer::TextAnswer;
pub use service::{CodeService, LONGEST_CALL};

/// Declares a tool that asks the index: its type, name, aliases, input, the type of its answer, and the function that
/// answers. With `asking_servers` the function also gets the reply of a language server, where the input asks for one;
/// with `with_embeddings` the vector of its `query`.
macro_rules! code_tool {
    ($tool:ident, $name:literal, $aliases:expr, $input:ty => $answer:ty, $run:ident) => {
        code_tool!(@ $tool, $name, $aliases, $input => $answer, |service, ctx, input| {
            service.ask(ctx, move |index| $run(index, &input)).await
        });
    };
    ($tool:ident, $name:literal, $aliases:expr, $input:ty => $answer:ty, $run:ident, asking_servers) => {
        code_tool!(@ $tool, $name, $aliases, $input => $answer, |service, ctx, input| {
            let reply = service.ask_server(ctx, input.source, input.target(), input.question()).await?;
            service.ask(ctx, move |index| $run(index, &input, reply.as_ref())).await
        });
    };
    ($tool:ident, $name:literal, $aliases:expr, $input:ty => $answer:ty, $run:ident, with_embeddings) => {
        code_tool!(@ $tool, $name, $aliases, $input => $answer, |service, ctx, input| {
            let prepared = service.query_vector(ctx, &input.query).await?;
            service.ask(ctx, move |index| $run(index, &input, prepared.as_ref())).await
        });
    };
    (@ $tool:ident, $name:literal, $aliases:expr, $input:ty => $answer:ty, |$service:ident, $ctx:ident, $given:ident| $run:block) => {
        pub struct $tool(pub std::sync::Arc<crate::code::service::CodeService>);

        #[async_trait::async_trait]
        impl stepwell_tool_runtime::Tool for $tool {
            type Input = $input;
            type Plan = $input;
            type Output = crate::code::answer::TextAnswer<$answer>;

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
