import { type QueueContext, sendMessages } from '../aws/queue.ts';
import type { Context } from '../context/context.ts';
import { ulidOf } from '../contract/ids.ts';
import type { Organization } from '../contract/organization.ts';
import type { TaskOrder } from '../names/messages.ts';
import type { TableContext } from '../table/access/client.ts';
import { requestFields } from '../table/access/current-request.ts';
import { keys } from '../table/access/keys.ts';
import { deletePartition } from '../table/purges/delete-partition.ts';
import { hasComments } from '../table/tasks/comments.ts';
import { settleDependents } from './dependents.ts';

/** What a worker does after a change of a task, because the stream must not wait for it. */

/** Sends an order about a task. */
export async function sendTaskOrder(
  context: QueueContext,
  organization: Organization,
  taskId: string,
  kind: TaskOrder['order']['kind'],
): Promise<void> {
  const message: TaskOrder = { organization, taskId, order: { kind }, ...requestFields() };
  await sendMessages(context, 'deliveries', [{ message, delaySeconds: 0 }]);
}

/** Sends the order to delete the comments of a deleted task, if it has some. */
export async function orderPurge(
  context: TableContext & QueueContext,
  organization: Organization,
  taskId: string,
): Promise<void> {
  if (await hasComments(context, organization, taskId)) await sendTaskOrder(context, organization, taskId, 'deleted');
}

/** Carries out an order about a task: its dependents follow it, or the comments of a deleted one are deleted. It can be repeated. */
export async function carryOutTaskOrder(context: Context, { organization, taskId, order }: TaskOrder): Promise<void> {
  if (order.kind === 'dependents') return settleDependents(context, organization, taskId);
  await deletePartition(context.table, keys.comments(organization, ulidOf(taskId)).pk);
}
