"""Live MCP servers: how they are reached, what they offer, what they answer."""
