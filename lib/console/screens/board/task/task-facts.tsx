import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useRef, useState } from 'react';
import type { TaskDetail, TaskPatch, TaskPriority, TaskStatus } from '../../../../client/operations.ts';
import { CopyableId } from '../../../components/copyable-id.tsx';
import { Failure } from '../../../components/failure.tsx';
import { useTaskWithResult } from '../../../components/hooks/one-task.ts';
import { Status } from '../../../components/page.tsx';
import { Ago } from '../../../components/time.tsx';
import { useScope } from '../../../session.ts';
import { useTaskChanges } from '../change-task.ts';
import { ConflictDialog } from '../conflict-dialog.tsx';
import { AgentField } from '../form/fields.tsx';
import { priorities, statuses, statusLabels } from '../tasks.ts';
import { isOfEndedClaim } from './task-claim.tsx';

/** The facts of a task. Its status, its priority and its agent can be changed here, if the token may. */
export function TaskFacts({ task }: { task: TaskDetail }) {
  const canWrite = useScope('tasks:write');
  const { id, projectId, createdAt, updatedAt } = task;
  return (
    <dl className="facts">
      {canWrite ? <ChangeableFacts task={task} /> : <FixedFacts task={task} />}
      {projectId && (
        <>
          <dt>Project</dt>
          <dd>
            <Link to="/board" search={{ project: projectId }}>
              {projectId}
            </Link>
          </dd>
        </>
      )}
      <dt>Changed</dt>
      <dd>
        <Ago at={updatedAt} />, created <Ago at={createdAt} />
      </dd>
      <dt>Id</dt>
      <dd>
        <CopyableId id={id} />
      </dd>
    </dl>
  );
}

function FixedFacts({ task: { status, priority, assignedAgent } }: { task: TaskDetail }) {
  return (
    <>
      <dt>Status</dt>
      <dd>
        <Status value={status} />
      </dd>
      <dt>Priority</dt>
      <dd>
        <span className={`priority priority-${priority}`} aria-hidden="true" /> {priority}
      </dd>
      {assignedAgent && (
        <>
          <dt>Agent</dt>
          <dd>
            <AgentLink name={assignedAgent}>{assignedAgent}</AgentLink>
          </dd>
        </>
      )}
    </>
  );
}

function ChangeableFacts({ task }: { task: TaskDetail }) {
  const queries = useQueryClient();
  const { queryKey } = useTaskWithResult(task.id);
  // Why the latest change was not made, and of which fields.
  const [failed, setFailed] = useState<{ error: unknown; patch: TaskPatch }>();
  const { change, conflict, overwrite, dismiss } = useTaskChanges((error, patch) => setFailed({ error, patch }));
  const changes = useRef(Promise.resolve());
  // The chosen values until the service has confirmed or rejected them.
  const [chosen, setChosen] = useState<TaskPatch>({});
  const { status, priority, assignedAgent } = { ...task, ...chosen };

  /** Makes a change after those before it, so that it does not conflict with them. */
  function save(patch: TaskPatch, send: () => Promise<boolean>): void {
    setFailed(undefined);
    setChosen((before) => ({ ...before, ...patch }));
    changes.current = changes.current.then(async () => {
      await send();
      setChosen(({ ...rest }) => {
        for (const name of Object.keys(patch) as (keyof TaskPatch)[]) delete rest[name];
        return rest;
      });
    });
  }
  const choose = (patch: TaskPatch) => save(patch, () => change(queries.getQueryData(queryKey)?.data ?? task, patch));

  const shown = failed && !isOfEndedClaim(failed.error, task) ? failed : undefined;
  const failureOf = (name: keyof TaskPatch) => shown && name in shown.patch && <Failure error={shown.error} />;

  return (
    <>
      <dt>Status</dt>
      <dd>
        <select
          aria-label="Status of the task"
          value={status}
          onChange={({ target }) => choose({ status: target.value as TaskStatus })}
        >
          {statuses.map((one) => (
            <option key={one} value={one}>
              {statusLabels[one]}
            </option>
          ))}
        </select>
        {failureOf('status')}
      </dd>
      <dt>Priority</dt>
      <dd>
        <select
          aria-label="Priority of the task"
          value={priority}
          onChange={({ target }) => choose({ priority: target.value as TaskPriority })}
        >
          {priorities.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
        {failureOf('priority')}
      </dd>
      <dt>Agent</dt>
      <dd className="with-link">
        <AgentField
          label="Agent of the task"
          none="None"
          value={assignedAgent ?? ''}
          onChange={(name) => choose({ assignedAgent: name === '' ? null : name })}
        />
        {task.assignedAgent && <AgentLink name={task.assignedAgent}>Open {task.assignedAgent}</AgentLink>}
        {failureOf('assignedAgent')}
        {conflict && (
          <ConflictDialog conflict={conflict} overwrite={() => save(conflict.patch, overwrite)} dismiss={dismiss} />
        )}
      </dd>
    </>
  );
}

/** A link to an agent; the text alone for a token that must not read agents. */
function AgentLink({ name, children }: { name: string; children: ReactNode }) {
  const canReadAgents = useScope('agents:read');
  if (!canReadAgents) return children;
  return (
    <Link to="/agents/$name" params={{ name }}>
      {children}
    </Link>
  );
}
