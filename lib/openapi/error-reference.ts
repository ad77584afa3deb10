import type { ErrorCode, ErrorDetail } from '../contract/errors.ts';
import * as examples from '../contract/examples.ts';

/** When an error occurs, as a Markdown sentence, and an example of its message and details. */
type ErrorReference = { when: string; message: string; details?: readonly ErrorDetail[] };

const task = `There is no task ${examples.taskId}.`;

/** The API reference of each error code. */
export const errorReferences: Readonly<Record<ErrorCode, ErrorReference>> = {
  invalid_json: {
    when: 'The body is not well-formed JSON.',
    message: 'The body is not well-formed JSON in UTF-8; check its syntax and its encoding.',
  },
  validation_failed: {
    when: 'A field, a query parameter or a header is missing, unknown, read-only or invalid. `details` lists the problems, at most 20.',
    message: 'The request has 2 errors; see details.',
    details: [
      {
        path: 'titel',
        code: 'unknown_field',
        message: '"titel" is not a known field (did you mean title?)',
      },
      { path: 'title', code: 'required', message: 'title is required' },
    ],
  },
  unauthorized: {
    when: 'The access token is missing, malformed, unknown, expired or revoked.',
    message: 'The access token is not valid; send a valid one, as in Authorization: Bearer crew_….',
  },
  insufficient_scope: {
    when: 'The access token does not have a scope of this operation, or a scope of the tools of the agent that the request creates or changes.',
    message: 'This access token does not have the scope tasks:write; use a token that has it.',
  },
  system_agent: {
    when: 'The agent is a system agent, which cannot be deleted.',
    message: 'qa-reviewer is a system agent and cannot be deleted; set it inactive instead.',
  },
  not_author: {
    when: 'Somebody else has written the comment.',
    message: 'Only its author can change or delete a comment; send the access token that it was written with.',
  },
  origin_not_allowed: {
    when: 'A web page of an origin that the deployment does not allow sent the request.',
    message:
      'Web pages of https://page.example.com may not call this service; allow the origin in CORS_ORIGINS or corsOrigins.',
  },
  not_found: {
    when: 'The resource in the path does not exist or belongs to another organization.',
    message: 'The organization has no such task; check the path.',
  },
  method_not_allowed: {
    when: 'The path does not support this method. The `Allow` header lists the supported methods.',
    message: 'PUT is not allowed here; use GET or POST.',
  },
  name_taken: {
    when: 'An agent with this name already exists.',
    message: 'An agent named builder already exists; choose another name.',
    details: [{ path: 'name', code: 'invalid_value', message: 'name builder is taken' }],
  },
  has_dependents: {
    when: 'Tasks that are not `done` depend on this task. `details` lists them.',
    message: '1 task depends on this one and is not done; finish them or remove the dependency first.',
    details: [
      {
        path: 'dependents.0',
        code: 'blocking',
        message: `${examples.taskId} depends on this task and is in_progress.`,
      },
    ],
  },
  dependency_cycle: {
    when: 'The dependencies would form a cycle.',
    message: 'A task cannot depend on itself, directly or through other tasks; remove the dependency.',
    details: [
      {
        path: 'dependsOn.0',
        code: 'cycle',
        message: `These tasks would wait for each other: ${examples.taskId} → ${examples.dependencyId} → ${examples.taskId}.`,
      },
    ],
  },
  agent_not_active: {
    when: 'The status of the agent is `inactive` or `draft`.',
    message: 'builder is inactive; set its status to active first.',
  },
  task_blocked: {
    when: 'The task depends on tasks that are not `done`. `details` lists them.',
    message: 'The task waits for 1 other that is not done; finish it or remove the dependency first.',
    details: [{ path: 'blockedBy.0', code: 'blocking', message: `${examples.dependencyId} is backlog.` }],
  },
  task_claimed: {
    when: 'A worker has claimed the task. The first entry of `details` has its name and when the claim ends, unless it is renewed.',
    message:
      'A worker has claimed the task; wait for its release, name its claimId, or take the task back with DELETE …/claim.',
    details: [
      {
        path: 'claim',
        code: 'blocking',
        message: 'The task is claimed by the worker in this detail, until the time in it.',
        worker: examples.worker,
        expiresAt: examples.ended,
      },
    ],
  },
  task_not_open: {
    when: 'The task is not in `backlog` or `assigned`, or it is stopped.',
    message: 'The task is done; only a task in backlog or assigned can be claimed.',
  },
  task_not_in_review: {
    when: 'The task is not in `qa_review` or `up_for_review`.',
    message: 'The task is assigned; only a task in qa_review or up_for_review can be reviewed.',
  },
  claim_lost: {
    when: 'The claim has ended, or it is not the claim of this task.',
    message: 'This claim has ended, or the task has another one; stop the work, and claim the task again.',
  },
  execution_running: {
    when: 'An execution is working on the task.',
    message: 'An execution is working on the task; wait for its end, or cancel it.',
  },
  delegation_cycle: {
    when: 'The agent is already in this chain of delegations.',
    message: 'builder has delegated this already; delegate it to another agent.',
    details: [{ path: 'toAgent', code: 'cycle', message: 'builder is in this chain of delegations.' }],
  },
  delegation_too_deep: {
    when: 'The chain already has three delegations, the maximum.',
    message: 'This was delegated 3 times; execute an agent directly instead.',
    details: [{ path: 'toAgent', code: 'limit', message: 'A chain may have 3 delegations.' }],
  },
  execution_finished: {
    when: 'The execution has ended already.',
    message: `The execution ${examples.executionId} has ended as completed; only a running execution can be cancelled.`,
  },
  improvement_in_progress: {
    when: 'A self-improvement pass of this agent is in progress.',
    message: 'A self-improvement of this agent is in progress; retry when it has ended, within 30 seconds.',
  },
  delivery_in_progress: {
    when: 'An attempt of this delivery is running, was just made, or is due soon.',
    message:
      'An attempt of this delivery is running, was just made, or is due soon; retry after the time in Retry-After.',
  },
  webhook_paused: {
    when: 'The webhook is paused.',
    message: 'The webhook is paused; resume it first, with active: true.',
  },
  recovery_in_progress: {
    when: 'Another recovery of the webhook is running.',
    message: 'A recovery of this webhook is running; wait until it is completed.',
  },
  recovery_completed: {
    when: 'The recovery is completed.',
    message: `The recovery ${examples.recoveryId} is completed; only a running recovery can be cancelled.`,
  },
  request_in_progress: {
    when: 'A request with this `Idempotency-Key` is in progress.',
    message: 'A request with this Idempotency-Key is in progress; retry after the time in Retry-After.',
  },
  limit_reached: {
    when: 'A maximum is reached: the webhooks of an organization, the pauses of a webhook, the tasks that depend on one task, or the agents by which tasks are counted.',
    message: 'An organization can have 100 webhooks; delete one it does not need.',
  },
  precondition_failed: {
    when: 'The current ETag of the resource is not in `If-Match`.',
    message: `The resource has changed and its ETag is now ${examples.etag}; read it again.`,
  },
  payload_too_large: {
    when: 'The body is larger than 256 KiB.',
    message: 'The body has 300000 bytes; send at most 262144.',
  },
  unsupported_media_type: {
    when: 'The `Content-Type` of the body is not JSON, or the body is compressed.',
    message: 'The Content-Type of the body is not JSON; send JSON with Content-Type: application/json.',
  },
  unknown_reference: {
    when: 'The body names a task or an agent that does not exist.',
    message: 'The request names a task or an agent that does not exist; see details.',
    details: [{ path: 'dependsOn.0', code: 'not_found', message: task }],
  },
  range_too_large: {
    when: 'A filtered list: the range from `since` on has more than 10,000 attempts, the most that it reads. `details` names a later `since`, if there is one. A recovery: the range has more than 10,000 events to send, or more than 20,000 events. `details` names an earlier `until`, if there is one.',
    message: 'This range has more than 10,000 attempts; choose a later since, see details.',
    details: [{ path: 'since', code: 'limit', message: 'since must be 2026-11-14T09:30:00.000Z or later' }],
  },
  reserved_name: {
    when: 'The agent name is reserved because it is part of a path of the API.',
    message: 'The name skills is a path of the service; choose another name.',
    details: [{ path: 'name', code: 'invalid_value', message: 'name must not be executions or skills' }],
  },
  url_not_allowed: {
    when: 'The URL is not allowed for deliveries.',
    message: 'url must use port 443 or 8443.',
    details: [{ path: 'url', code: 'invalid_value', message: 'url must use port 443 or 8443' }],
  },
  self_delegation: {
    when: 'The agent would delegate to itself.',
    message: 'builder cannot delegate to itself; execute it instead.',
    details: [{ path: 'toAgent', code: 'invalid_value', message: 'toAgent must be another agent than builder' }],
  },
  idempotency_key_reused: {
    when: 'The `Idempotency-Key` was used for a different request.',
    message: 'This Idempotency-Key was used for a different request; use a new key.',
  },
  rate_limited: {
    when: 'The organization has reached its limit of requests per minute or, for the start of an execution, its limit of starts per minute, of concurrent executions, or of tokens per UTC day. Nothing was changed.',
    message: 'The organization has made more than 1200 requests a minute; retry after the time in Retry-After.',
  },
  internal_error: {
    when: 'The service failed to process the request.',
    message: 'The service failed to process the request; its operator finds the cause in the log by the requestId.',
  },
  unavailable: {
    when: 'The service is overloaded or did not respond in time. The message says whether nothing was changed or the outcome is unknown.',
    message: 'The service is busy; nothing was changed. Try again shortly.',
  },
};
