//! Tools that know the code: what files define, where names are defined and used, who calls whom, what code is about.
//! One desk holds the index of a workspace.

mod desk;
mod graphs;
mod names;
mod outlines;
mod parse;

use std::sync::Arc;

use stepwell_tool_runtime::DynTool;

pub use desk::{CodeDesk, LONGEST_CALL};

/// Declares a tool whose work a function does with the index: its type, its name, its other names, its input, the
/// function. With `asking_servers` the function also gets what a language server said, where the input wishes for one;
/// with `with_embeddings` the vector of its `query`.
macro_rules! code_tool {
    ($tool:ident, $name:literal, $aliases:expr, $input:ty, $run:ident) => {
        code_tool!(@ $tool, $name, $aliases, $input, |desk, ctx, input| {
            desk.ask(ctx, move |index| $run(index, &input)).await
        });
    };
    ($tool:ident, $name:literal, $aliases:expr, $input:ty, $run:ident, asking_servers) => {
        code_tool!(@ $tool, $name, $aliases, $input, |desk, ctx, input| {
            let target = input.target.clone();
            let asked = move |index: &stepwell_code_intel::index::Index| target.asked(index);
            let said = desk.ask_server(ctx, input.source, asked, input.question()).await?;
            desk.ask(ctx, move |index| $run(index, &input, said.clone())).await
        });
    };
    ($tool:ident, $name:literal, $aliases:expr, $input:ty, $run:ident, with_embeddings) => {
        code_tool!(@ $tool, $name, $aliases, $input, |desk, ctx, input| {
            let prepared = desk.sought(ctx, &input.query).await?;
            desk.ask(ctx, move |index| $run(index, &input, prepared.as_ref())).await
        });
    };
    (@ $tool:ident, $name:literal, $aliases:expr, $input:ty, |$desk:ident, $ctx:ident, $given:ident| $run:block) => {
        pub struct $tool(pub std::sync::Arc<crate::code::desk::CodeDesk>);

        #[async_trait::async_trait]
        impl stepwell_tool_runtime::Tool for $tool {
            type Input = $input;
            type Output = crate::code::desk::Told;

            fn spec(&self) -> stepwell_tool_runtime::ToolSpec {
                stepwell_tool_runtime::ToolSpec {
                    name: $name,
                    aliases: $aliases,
                    category: stepwell_tool_runtime::Category::Code,
                    risk: stepwell_protocol::Risk::Read,
                    time_limit: crate::code::desk::LONGEST_CALL,
                    output_limit: 50 * 1024,
                }
            }

            async fn preview(
                &self,
                _: &stepwell_tool_runtime::ToolContext,
                input: &Self::Input,
            ) -> stepwell_protocol::Preview {
                let (subject, paths) = input.subject();
                stepwell_protocol::Preview {
                    summary: format!("Ask `{}` about {subject}", $name),
                    paths,
                    ..stepwell_protocol::Preview::default()
                }
            }

            async fn run(
                &self,
                $ctx: &stepwell_tool_runtime::ToolContext,
                $given: Self::Input,
            ) -> Result<Self::Output, stepwell_tool_runtime::ToolError> {
                let $desk = &self.0;
                $run
            }
        }
    };
}
pub(crate) use code_tool;

/// All tools of this kind.
pub fn tools(shared: &Arc<CodeDesk>) -> Vec<Arc<dyn DynTool>> {
    let desk = || Arc::clone(shared);
    vec![
        Arc::new(parse::AstParse(shared.workspace.clone())),
        Arc::new(outlines::AstFindSymbols(desk())),
        Arc::new(outlines::AstExtractFunction(desk())),
        Arc::new(outlines::AstGetImports(desk())),
        Arc::new(outlines::CodeIndexBuild(desk())),
        Arc::new(names::FindDefinition(desk())),
        Arc::new(names::FindReferences(desk())),
        Arc::new(names::CodebaseSearch(desk())),
        Arc::new(graphs::CallGraph(desk())),
        Arc::new(graphs::DependencyGraph(desk())),
    ]
}
