"""The official MCP client over streamable HTTP: lists tools, and calls one for each case; errors with their data."""

import asyncio
import json
import sys
from typing import Any

import httpx2
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError


async def ask(url: str, case: dict[str, Any]) -> Any:
    http = httpx2.AsyncClient(headers={"Authorization": f"Bearer {case['key']}"}, timeout=120)
    try:
        async with http, Client(streamable_http_client(f"{url}/mcp", http_client=http)) as client:
            if case["tool"] is None:
                listed = await client.list_tools()
                return {tool.name: {"in": tool.input_schema, "out": tool.output_schema} for tool in listed.tools}
            result = await client.call_tool(case["tool"], case["arguments"])
            text = json.loads(result.content[0].text)
            return {"failed": result.is_error, "result": result.structured_content, "text": text}
    except BaseExceptionGroup as group:
        return refused(group)
    except MCPError as error:
        return refused(error)


def refused(error: BaseException) -> Any:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if not isinstance(error, MCPError):
        raise error
    return {"code": error.error.code, "message": error.error.message, "data": error.error.data}


async def main() -> None:
    print(json.dumps([await ask(sys.argv[1], case) for case in json.load(sys.stdin)]))


if __name__ == "__main__":
    asyncio.run(main())
