"""Restores a former prompt of an agent with the generated client, whose hash has a colon in the path.

CREWBOARD_URL is the address of a service, and CREWBOARD_TOKEN an access token. Mypy checks this program too.
"""

import os

from crewboard_client import AuthenticatedClient
from crewboard_client.api.agents import create_agent, get_prompt, list_prompts, restore_prompt, update_agent
from crewboard_client.models import (
    Agent,
    AgentCategory,
    AgentPatch,
    CreateAgentResponse201,
    GetPromptResponse200,
    ListPromptsResponse200,
    NewAgent,
    PromptListItem,
    PromptSource,
    RestorePromptResponse200,
    UpdateAgentResponse200,
)
from typing_extensions import assert_type

client = AuthenticatedClient(base_url=os.environ["CREWBOARD_URL"], token=os.environ["CREWBOARD_TOKEN"])

with client:
    new = NewAgent(
        name="poet", display_name="Poet", category=AgentCategory.BUSINESS, system_prompt="Write odes."
    )
    created = create_agent.sync(client=client, body=new)
    assert isinstance(created, CreateAgentResponse201), created
    updated = update_agent.sync_detailed("poet", client=client, body=AgentPatch(system_prompt="Write sonnets."))
    assert isinstance(updated.parsed, UpdateAgentResponse200), updated

    page = list_prompts.sync("poet", client=client)
    assert isinstance(page, ListPromptsResponse200), page
    assert_type(page.data, list[PromptListItem])
    assert [prompt.source for prompt in page.data] == [PromptSource.UPDATE, PromptSource.CREATE], page
    first = page.data[-1].hash_
    assert first.startswith("sha256:"), page

    read = get_prompt.sync("poet", first, client=client)
    assert isinstance(read, GetPromptResponse200), read
    assert read.data.system_prompt == "Write odes.", read

    restored = restore_prompt.sync("poet", first, client=client, if_match=updated.headers["ETag"])
    assert isinstance(restored, RestorePromptResponse200), restored
    assert_type(restored.data, Agent)
    assert restored.data.system_prompt == "Write odes.", restored

print(f"restored {first}")
