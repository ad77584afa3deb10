import * as v from 'valibot';
import { type ApiReference, endpoint } from '../endpoint.ts';
import * as examples from '../examples.ts';
import { AgentName, described, flag, ProjectId, pageLimit } from '../shapes.ts';
import { ClaimId, ClaimNote, LeaseSeconds, WorkerName } from './claims.ts';
import { Comment } from './comments.ts';
import { exampleTask, Task, TaskId, TaskStatus } from './tasks.ts';

/** The tasks that workers can take, and the claims by which they take them. */

const readyFilters = {
  assigned_agent: v.optional(described(AgentName, 'Only tasks that are assigned to the agent with this name.')),
  project_id: v.optional(described(ProjectId, 'Only tasks of this project.')),
};

/** Examples of a ready task and of a claimed one. They are functions because bundlers keep an unused constant that contains a spread. */
const exampleReady = () => ({ ...exampleTask, status: 'assigned' }) as const;
const exampleClaimed = () =>
  ({
    ...exampleTask,
    claim: { id: examples.claimId, worker: examples.worker, expiresAt: examples.ended },
  }) as const;

/** A task as its claim returns it: with what reviewers have said about earlier work on it. */
export const ClaimedTask = v.object({
  ...Task.entries,
  reviewComments: v.optional(
    described(
      v.array(Comment),
      'The comments of the latest reviews, the newest first, at most 8 KiB of text in all: what the work has to answer. Only if there are some.',
    ),
  ),
});

export const listReadyTasks = endpoint({
  method: 'GET',
  path: '/api/kanban-tasks/ready',
  scope: 'tasks:read',
  summary: 'List ready tasks',
  query: v.object({
    ...readyFilters,
    limit: pageLimit,
  }),
  status: 200,
  data: v.array(Task),
  servedBy: 'listTasks',
});

export const listReadyTasksReference = (): ApiReference<typeof listReadyTasks> => ({
  description: `Returns the tasks that a worker can take now: those in \`backlog\` or \`assigned\` whose dependencies are all \`done\`, that nobody has claimed, and that are not stopped. The highest priority comes first, and of the same priority the oldest task. Each task was read for the response, so none of them was blocked or claimed at that moment. A task that becomes ready by its own change is there at once; one whose last dependency ends, within five seconds.

There is no total and no offset, and a list that does not fit into a response of 6 MB ends early: a worker takes one, with \`POST /api/kanban-tasks/claim-next\` or by its id.`,
  data: [exampleReady()],
});

/** The body of `claimTask`. */
export const NewClaim = v.object({
  worker: WorkerName,
  leaseSeconds: v.optional(LeaseSeconds),
  claimId: v.optional(described(ClaimId, 'A claim to renew.')),
});

/** The body of `claimNextTask`. */
export const NextClaim = v.object({
  worker: WorkerName,
  assignedAgent: v.optional(described(AgentName, 'Only tasks that are assigned to the agent with this name.')),
  projectId: v.optional(described(ProjectId, 'Only tasks of this project.')),
  leaseSeconds: v.optional(LeaseSeconds),
});

/** The body of `renewClaim`. */
export const ClaimRenewal = v.object({
  claimId: ClaimId,
  leaseSeconds: v.optional(LeaseSeconds),
  note: v.optional(ClaimNote),
});

/** The body of `releaseTask`. */
export const ClaimRelease = v.object({
  claimId: ClaimId,
  status: v.optional(described(TaskStatus, 'By default the one before the claim.')),
  note: v.optional(ClaimNote),
  failed: v.optional(described(flag, 'The work has failed.')),
});
export type ClaimRelease = v.InferOutput<typeof ClaimRelease>;

export const claimTask = endpoint({
  method: 'POST',
  path: '/api/kanban-tasks/:id/claim',
  scope: 'tasks:write',
  summary: 'Claim a task',
  params: { id: TaskId },
  body: NewClaim,
  status: 200,
  data: ClaimedTask,
  errors: ['task_blocked', 'task_claimed', 'task_not_open', 'claim_lost', 'execution_running'],
  servedBy: 'updateTask',
});

export const claimTaskReference = (): ApiReference<typeof claimTask> => ({
  description: `Gives the task to one worker, until the claim is released, expires or is taken back. The task is \`in_progress\` meanwhile. Of several workers that claim a task at the same time exactly one gets it. The others get \`task_claimed\`, whose first detail has the \`worker\` and \`expiresAt\`.

- Only a task in \`backlog\` or \`assigned\` can be claimed, not one that is stopped, and not while an execution works on it.
- The claim lasts for \`leaseSeconds\`. From \`expiresAt\` on it has no force: another worker can claim the task at once. Renew it before.
- While a claim lasts, nobody can change \`status\` or \`description\`, start an execution on the task or delete it; a PATCH with its \`claimId\` can.
- With an \`Idempotency-Key\`, a repeated request gets the recorded response. It shows the claim as it was: whether it still lasts, its \`expiresAt\` and the task say.

Publishes \`task.claimed\` and \`task.status_changed\`.`,
  body: { worker: examples.worker },
  data: exampleClaimed(),
});

export const claimNextTask = endpoint({
  method: 'POST',
  path: '/api/kanban-tasks/claim-next',
  scope: 'tasks:write',
  summary: 'Claim the next ready task',
  body: NextClaim,
  status: 200,
  data: v.nullable(ClaimedTask),
  servedBy: 'updateTask',
});

export const claimNextTaskReference = (): ApiReference<typeof claimNextTask> => ({
  description:
    'Claims a ready task: one of the first 20 of the highest priority, so that many workers do not fight for the same one. Tasks of agents with `autoRun` are left out, unless `assignedAgent` names the agent. The response is `null` if no task is ready. With an `Idempotency-Key`, a repeated request gets the recorded response, also `null`.',
  body: { worker: examples.worker },
  data: exampleClaimed(),
});

export const renewClaim = endpoint({
  method: 'POST',
  path: '/api/kanban-tasks/:id/claim/renew',
  scope: 'tasks:write',
  summary: 'Renew a claim',
  params: { id: TaskId },
  body: ClaimRenewal,
  status: 200,
  data: Task,
  errors: ['claim_lost'],
  servedBy: 'updateTask',
});

export const renewClaimReference = (): ApiReference<typeof renewClaim> => ({
  description:
    'Extends the claim, from now on, and stores a note. It changes neither the version nor `updatedAt` of the task, and publishes no event. `claim_lost` if the claim has ended: stop the work, another worker may have the task.',
  body: { claimId: examples.claimId, note: 'The header is done.' },
  data: exampleClaimed(),
});

export const releaseTask = endpoint({
  method: 'POST',
  path: '/api/kanban-tasks/:id/claim/release',
  scope: 'tasks:write',
  summary: 'Release a claimed task',
  params: { id: TaskId },
  body: ClaimRelease,
  status: 200,
  data: Task,
  errors: ['claim_lost'],
  servedBy: 'updateTask',
});

export const releaseTaskReference = (): ApiReference<typeof releaseTask> => ({
  description:
    'Ends the claim. The task gets the given status, or the one before the claim if the worker has set no other. After three releases in a row with `failed`, an open task is `stopped`: it is not offered until somebody changes its status, assigns it or takes it back. Publishes `task.released`, and `task.status_changed` if the status changes.',
  body: { claimId: examples.claimId, status: 'up_for_review', note: 'Ready for a look.' },
  data: { ...exampleTask, status: 'up_for_review' },
});

export const takeBackTask = endpoint({
  method: 'DELETE',
  path: '/api/kanban-tasks/:id/claim',
  scope: 'tasks:write',
  summary: 'Take a task back',
  forPeople: true,
  params: { id: TaskId },
  status: 200,
  data: Task,
  servedBy: 'updateTask',
});

export const takeBackTaskReference = (): ApiReference<typeof takeBackTask> => ({
  description:
    'Ends the claim of whatever worker, as a person does it: the task gets the status before the claim, and the worker gets `claim_lost`. It also frees a task that is stopped. Fails with `not_found` if the task has no claim and is not stopped. Publishes `task.released` for a claim.',
  data: exampleReady(),
});
