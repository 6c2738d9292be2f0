"""A server made with FastMCP: prompts, one of them of several turns, on stdio."""

from fastmcp import FastMCP
from fastmcp.prompts import Message

server = FastMCP("fast", version="1.2.3")


@server.prompt(title="Greet somebody", description="A greeting")
def greet(name: str, tone: str = "warm") -> str:
    return f"Greet {name} in a {tone} tone."


@server.prompt
def talk() -> list[Message]:
    """Three turns."""
    return [Message("2+2?"), Message("4", role="assistant"), Message("3+3?")]


if __name__ == "__main__":
    server.run(show_banner=False)
