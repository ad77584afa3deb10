import { entriesOfAgent } from '../../lib/agents/agent-history.ts';
import { allEnded } from '../../lib/aws/all-ended.ts';
import { orderLook, wakeAgent } from '../../lib/executions/auto-run.ts';
import { executionEvents } from '../../lib/executions/execution-events.ts';
import { sendExecutionMessages } from '../../lib/executions/run/execution-messages.ts';
import { agentKind } from '../../lib/table/agents/agent-items.ts';
import { wakeFrom, wakeKind } from '../../lib/table/agents/wake-ups.ts';
import { executionFrom, executionKind } from '../../lib/table/executions/execution-items.ts';
import { putEntries } from '../../lib/table/history/history-rows.ts';
import { heartbeatKind } from '../../lib/table/organizations/heartbeat.ts';
import { commentFrom, commentKind } from '../../lib/table/tasks/comments.ts';
import { deletedTaskFrom, deletedTaskKind } from '../../lib/table/tasks/deleted-tasks.ts';
import { followTask, renewSearchEntry } from '../../lib/table/tasks/search-entries.ts';
import { taskFrom, taskKind } from '../../lib/table/tasks/task-items.ts';
import { ownEventFrom, ownEventKind } from '../../lib/table/webhooks/own-events.ts';
import { releaseKind } from '../../lib/table/webhooks/releases.ts';
import { becomesReady } from '../../lib/tasks/claim-decisions.ts';
import { dependentsFollow } from '../../lib/tasks/dependents.ts';
import {
  entriesOfComment,
  entriesOfExecution,
  entriesOfTask,
  entryOfDeletion,
} from '../../lib/tasks/discussion/task-history.ts';
import { commentEvent, deletionEvent, taskEvents } from '../../lib/tasks/events.ts';
import { orderPurge, sendTaskOrder } from '../../lib/tasks/task-orders.ts';
import { publishEvents } from '../../lib/webhooks/deliveries/publish-events.ts';
import { isAwaited, startAwaited } from '../../lib/webhooks/orders/start-awaited.ts';
import { webhookEvents } from '../../lib/webhooks/own-events.ts';
import { consumeStream } from '../../lib/workers/consume.ts';
import { meter } from '../../lib/workers/meter.ts';

export const handler = consumeStream(async ({ organization, before, after, isRedriven }, context) => {
  const item = after ?? before;
  // The metric is written even if no work is late: an alarm is raised if no heartbeat arrives.
  if (item?.kind === heartbeatKind) return meter({ WorkLate: 0 });
  if (after && isAwaited(before, after)) return startAwaited(context, after);
  if (item?.kind === releaseKind) return;
  if (item?.kind === executionKind) {
    const execution = executionFrom(item);
    const former = before && executionFrom(before);
    const events = executionEvents(former, after && execution);
    // A start is a change in the stream too, so its message to a worker is sent as reliably as its event.
    if (execution.status === 'running' && events.length > 0) await sendExecutionMessages(context, [execution]);
    // Another execution of the agent may start now.
    const isEnd = execution.status !== 'running' && events.length > 0;
    await Promise.all([
      isEnd && wakeAgent(context, organization, execution.agentName),
      after &&
        execution.taskId !== undefined &&
        putEntries(context, { organization, of: 'task', id: execution.taskId }, entriesOfExecution(former, execution)),
      publishEvents(context, { organization, item: execution.id, version: 1, events }),
    ]);
    return;
  }
  if (item?.kind === wakeKind) {
    const { name, asked } = wakeFrom(item);
    if (after && asked !== (before?.asked ?? 0)) await orderLook(context, organization, name);
    return;
  }
  if (item?.kind === ownEventKind) {
    const { webhookId, number: version } = ownEventFrom(item);
    const events = webhookEvents(before && ownEventFrom(before), after && ownEventFrom(after));
    return publishEvents(context, { organization, item: webhookId, version, events });
  }
  if (item?.kind === agentKind) {
    const entries = after ? entriesOfAgent(before, after, context.defaultModel) : [];
    return putEntries(context, { organization, of: 'agent', id: item.id as string }, entries);
  }
  if (item?.kind === commentKind) {
    const comment = commentFrom(item);
    await Promise.all([
      putEntries(context, { organization, of: 'task', id: comment.taskId }, entriesOfComment(comment)),
      publishEvents(context, { organization, item: comment.id, version: 1, events: [commentEvent(comment)] }),
    ]);
    return;
  }
  if (item?.kind === deletedTaskKind) {
    const task = deletedTaskFrom(item);
    const { id, version } = task;
    await Promise.all([
      putEntries(context, { organization, of: 'task', id }, [entryOfDeletion(task)]),
      orderPurge(context, organization, id),
      publishEvents(context, { organization, item: id, version: version + 1, events: [deletionEvent(task)] }),
    ]);
    return;
  }
  if (item?.kind !== taskKind) return;
  const task = taskFrom(item);
  const former = before && taskFrom(before);
  const current = after && task;
  const { id, version } = task;
  // A write of the entry that goes on could end after the write of the next change.
  await allEnded([
    // First: if it has to be tried again, the change is no dead letter, whatever the others say.
    isRedriven ? renewSearchEntry(context, organization, id) : followTask(context, organization, former, current),
    dependentsFollow(former, current) && sendTaskOrder(context, organization, id, 'dependents'),
    current?.assignedAgent && becomesReady(former, task) && wakeAgent(context, organization, current.assignedAgent),
    // The item of a deleted task says the rest.
    current && putEntries(context, { organization, of: 'task', id }, entriesOfTask(former, current)),
    publishEvents(context, { organization, item: id, version, events: taskEvents(former, current) }),
  ]);
});
