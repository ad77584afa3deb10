"""Creates a task and reads it back with the generated client, and checks the types of what it gets.

CREWBOARD_URL is the address of a service, and CREWBOARD_TOKEN an access token. Mypy checks this program too.
"""

import os
from datetime import datetime, timedelta, timezone

from crewboard_client import AuthenticatedClient
from crewboard_client.api.tasks import create_task, get_task, list_tasks
from crewboard_client.models import (
    CreateTaskResponse201,
    ErrorCode,
    ErrorResponse,
    GetTaskResponse200,
    ListTasksResponse200,
    NewTask,
    TaskCreated,
    TaskDetail,
    TaskPriority,
    TaskStatus,
)
from typing_extensions import assert_type

client = AuthenticatedClient(base_url=os.environ["CREWBOARD_URL"], token=os.environ["CREWBOARD_TOKEN"])

with client:
    new = NewTask(title="Draw the landing page", priority=TaskPriority.HIGH, project_id="proj_website")
    created = create_task.sync(client=client, body=new, idempotency_key="python-client")
    assert isinstance(created, CreateTaskResponse201), created
    assert_type(created.data, TaskCreated)
    assert created.data.id.startswith("tk_"), created
    assert_type(created.data.created_at, datetime)
    assert abs(datetime.now(timezone.utc) - created.data.created_at) < timedelta(minutes=5), created

    read = get_task.sync(created.data.id, client=client)
    assert isinstance(read, GetTaskResponse200), read
    assert_type(read.data, TaskDetail)
    assert read.data.title == "Draw the landing page", read
    assert read.data.status is TaskStatus.BACKLOG and read.data.priority is TaskPriority.HIGH, read
    assert read.data.project_id == "proj_website" and read.data.depends_on == [], read

    page = list_tasks.sync(client=client, status=TaskStatus.BACKLOG, project_id="proj_website", limit=1)
    assert isinstance(page, ListTasksResponse200), page
    assert [task.id for task in page.data] == [created.data.id] and page.pagination.total == 1, page

    wrong = create_task.sync(client=client, body=NewTask(title=""))
    assert isinstance(wrong, ErrorResponse), wrong
    assert wrong.error.code is ErrorCode.VALIDATION_FAILED, wrong
    assert isinstance(wrong.error.details, list) and wrong.error.details[0].path == "title", wrong

print(f"created and read {created.data.id}")
