"""Prompt files as an MCP server, on stdio or over HTTP."""
