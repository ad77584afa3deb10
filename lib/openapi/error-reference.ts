import type { ErrorCode, ErrorDetail } from '../contract/errors.ts';
import * as examples from '../contract/examples.ts';

/** When a code is answered, as a Markdown sentence, and an answer that carries it. */
type ErrorReference = { when: string; message: string; details?: readonly ErrorDetail[] };

const task = `There is no task ${examples.taskId}.`;

/** The words and an example for each code of the closed list. */
export const refusals: Readonly<Record<ErrorCode, ErrorReference>> = {
  invalid_json: { when: 'The body is not JSON.', message: 'The body is not well-formed JSON in UTF-8.' },
  validation_failed: {
    when: 'A field, a query parameter or a header is missing, unknown, read-only or not what it must be; `details` name every fault.',
    message: 'The request has 2 faults; see details.',
    details: [
      {
        path: 'assigned_to',
        code: 'unknown_field',
        message: '"assigned_to" is not a known field; did you mean title?',
      },
      { path: 'title', code: 'required', message: 'title is required' },
    ],
  },
  unauthorized: {
    when: 'There is no token, or it is not a live one.',
    message: 'Send a valid token, as in Authorization: Bearer crew_….',
  },
  insufficient_scope: {
    when: 'The token lacks the scope of this operation.',
    message: 'This token lacks the scope tasks:write; make one that has it.',
  },
  system_agent: {
    when: 'The agent came with the organization.',
    message: 'qa-reviewer is a system agent and cannot be deleted; set it inactive instead.',
  },
  not_found: {
    when: "What the path names does not exist, or is another organization's.",
    message: 'There is no such resource.',
  },
  method_not_allowed: {
    when: 'The path does not take this method; `Allow` lists those it takes.',
    message: 'PUT is not for this path; it takes GET, POST.',
  },
  name_taken: {
    when: 'There is an agent of this name.',
    message: 'There is an agent named builder already; choose another name.',
    details: [{ path: 'name', code: 'invalid_value', message: 'name builder is taken' }],
  },
  has_dependents: {
    when: 'Tasks that are not done depend on this one; `details` name them.',
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
    when: 'The tasks would wait for each other.',
    message: 'A task cannot depend on itself, directly or through others.',
    details: [
      {
        path: 'dependsOn.0',
        code: 'cycle',
        message: `These tasks would wait for each other: ${examples.taskId} → ${examples.dependencyId} → ${examples.taskId}.`,
      },
    ],
  },
  agent_not_active: {
    when: 'The agent is `inactive` or a `draft`.',
    message: 'builder is inactive; set its status to active first.',
  },
  task_blocked: {
    when: 'The task depends on others that are not done; `details` name them.',
    message: 'The task waits for 1 other that is not done; finish it or remove the dependency first.',
    details: [{ path: 'blockedBy.0', code: 'blocking', message: `${examples.dependencyId} is backlog.` }],
  },
  delegation_cycle: {
    when: 'The agent is in this chain of delegations already.',
    message: 'builder has handed this on already; it cannot be given it again.',
    details: [{ path: 'toAgent', code: 'cycle', message: 'builder is in this chain of delegations already.' }],
  },
  delegation_too_deep: {
    when: 'Three delegations have led here already.',
    message: 'This was handed on 3 times already; it can be no more.',
    details: [{ path: 'toAgent', code: 'limit', message: 'At most 3 delegations may follow one another.' }],
  },
  improvement_in_progress: {
    when: 'A pass of this agent is under way.',
    message: 'This agent is improving itself right now; ask again when that has ended, within half a minute.',
  },
  request_in_progress: {
    when: 'A request with this `Idempotency-Key` is under way.',
    message: 'This very request is being carried out; ask again when it has ended.',
  },
  limit_reached: {
    when: 'There are as many as there may be.',
    message: 'An organization can have 100 webhooks; delete one it does not need.',
  },
  precondition_failed: {
    when: 'The resource is not of the version that `If-Match` names.',
    message: 'The resource has changed: its ETag is now "2". Read it again.',
  },
  payload_too_large: {
    when: 'The body has more than 256 KiB.',
    message: 'The body has 300000 bytes; at most 262144 are taken.',
  },
  unsupported_media_type: {
    when: 'The body is not declared as JSON.',
    message: 'Send the body as JSON, with the header Content-Type: application/json.',
  },
  unknown_reference: {
    when: 'The body names a task or an agent that does not exist.',
    message: 'The request names something that does not exist.',
    details: [{ path: 'dependsOn.0', code: 'not_found', message: task }],
  },
  reserved_name: {
    when: 'The name is a path of the service.',
    message: 'The name skills is a path of the service; choose another name.',
    details: [{ path: 'name', code: 'invalid_value', message: 'name must not be executions or skills' }],
  },
  url_not_allowed: {
    when: 'Deliveries may not go to such a URL.',
    message: 'url must use port 443 or 8443.',
    details: [{ path: 'url', code: 'invalid_value', message: 'url must use port 443 or 8443' }],
  },
  self_delegation: {
    when: 'An agent cannot delegate to itself.',
    message: 'builder cannot hand something on to itself; execute it instead.',
    details: [{ path: 'toAgent', code: 'invalid_value', message: 'toAgent must be another agent than builder' }],
  },
  idempotency_key_reused: {
    when: 'The `Idempotency-Key` was used for another request.',
    message: 'This Idempotency-Key was used for another request; take a new one.',
  },
  rate_limited: {
    when: 'The organization has made as many requests as it may in a minute; or, of a start, has started as many executions as it may, or has as many running. Nothing was changed.',
    message: 'The organization has made more than 1200 requests a minute; retry after the time in Retry-After.',
  },
  internal_error: {
    when: 'It failed for a reason of ours.',
    message: 'Something went wrong on our side. It is in the log under this requestId.',
  },
  unavailable: {
    when: 'The service is busy, or did not answer in time. The message says whether it is known that nothing was changed.',
    message: 'The service is busy; nothing was changed. Try again shortly.',
  },
};
