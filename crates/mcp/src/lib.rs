//! The tools as an MCP server: any MCP client can use what the agent uses.
