"""Works on a task with the tools of the MCP server, with the protocol's latest revision and with the one before.

CREWBOARD_URL is the address of a service, and CREWBOARD_TOKEN an access token. Mypy checks this program too.
"""

import asyncio
import json
import os
from typing import Any

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, TextContent

URL = os.environ["CREWBOARD_URL"] + "/mcp"
HEADERS = {"Authorization": f"Bearer {os.environ['CREWBOARD_TOKEN']}"}

# What makes the client use each revision.
REVISIONS = {"2026-07-28": "auto", "2025-11-25": "legacy"}


def parsed(result: CallToolResult) -> Any:
    """Returns the JSON of a result."""
    [content] = result.content
    assert isinstance(content, TextContent), result
    return json.loads(content.text)


async def work(revision: str, mode: str) -> str:
    """Creates, changes and reads a task, and returns its id."""
    async with httpx2.AsyncClient(headers=HEADERS) as http:
        transport = streamable_http_client(URL, http_client=http)
        async with Client(transport, mode=mode) as client:
            assert client.protocol_version == revision, client.protocol_version

            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            hints = tools["delete_task"].annotations
            # A hint that is left out has the default of the protocol.
            assert hints is not None and hints.destructive_hint is not False and not hints.read_only_hint, hints

            created = parsed(await client.call_tool("create_task", {"title": f"Draw with {revision}"}))
            task_id: str = created["data"]["id"]
            changed = await client.call_tool("update_task", {"id": task_id, "status": "in_progress"})
            assert not changed.is_error, changed
            listed = parsed(await client.call_tool("list_tasks", {"status": "in_progress", "limit": 1}))
            assert [task["id"] for task in listed["data"]] == [task_id], listed

            wrong = await client.call_tool("create_task", {"titel": "Draw"})
            assert wrong.is_error and parsed(wrong)["error"]["code"] == "validation_failed", wrong

            uri = f"crewboard://tasks/{task_id}"
            resources = [str(resource.uri) for resource in (await client.list_resources()).resources]
            assert uri in resources, resources
            read = await client.read_resource(uri)
            assert "in_progress" in str(read.contents), read

            prompt = await client.get_prompt("work_on_next_task", {"agent": "builder"})
            assert "claim_next_task" in str(prompt.messages), prompt
            return task_id


for revision, mode in REVISIONS.items():
    print(f"worked on {asyncio.run(work(revision, mode))} with revision {revision}")
