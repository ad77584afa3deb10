import type { Operation } from '../../../lib/contract/routes.ts';
import { taskStatuses } from '../../../lib/contract/tasks/tasks.ts';
import { type Api, dataOf } from '../../api.ts';
import type { Answer } from '../../service.ts';

/** The bodies of responses, by the operation, the parameters and the query of the request. */
export type Responses = Record<string, Answer['body']>;

type Named = { id: string; name: string; agentName: string; deliveryId: string; hash: string };

/**
 * Reads all that an organization has by each operation that reads it: lists with their totals, also filtered ones, and each
 * entry. Responses other than 2xx are left out: a former version does not have all operations.
 */
export async function readAll(api: Api): Promise<Responses> {
  const responses: Responses = {};
  async function read(operation: Operation, params: Record<string, string> = {}, query = ''): Promise<Named[]> {
    const answer = await api[operation]({ params, query });
    if (answer.status !== 200) return [];
    responses[[operation, ...Object.values(params), query].filter(Boolean).join(' ')] = answer.body;
    return [dataOf<Named | Named[]>(answer)].flat();
  }

  for (const { id } of await read('listTasks', {}, 'limit=100')) await read('getTask', { id });
  const filters = ['priority=high', 'assigned_agent=writer', 'project_id=proj_site', 'limit=2&offset=3'];
  for (const filter of [...taskStatuses.map((status) => `status=${status}`), ...filters])
    await read('listTasks', {}, filter);
  for (const field of ['status', 'priority']) await read('countTasks', {}, `group_by=${field}`);

  for (const { name } of await read('listAgents', {}, 'limit=100')) {
    await read('getAgent', { name });
    await read('listSkills', { name });
    await read('getMetrics', { name });
    await read('listImprovements', { name });
    await read('listAgentExecutions', { name });
    for (const { hash } of await read('listPrompts', { name })) await read('getPrompt', { name, hash });
  }
  for (const filter of ['status=active', 'status=inactive', 'category=research', 'search=notes'])
    await read('listAgents', {}, filter);
  await read('listSkillCatalogue');

  for (const { agentName: name, id } of await read('listExecutions', {}, 'limit=100')) {
    await read('getExecution', { name, id });
    await read('listSteps', { name, id });
  }
  for (const filter of ['status=completed', 'status=failed', 'agentName=writer'])
    await read('listExecutions', {}, filter);
  await read('getExecutionMetrics');

  for (const { id } of await read('listWebhooks')) {
    await read('getWebhook', { id });
    for (const filter of ['status=delivered', 'status=failed', 'event=task.created', 'limit=1&offset=1'])
      await read('listDeliveries', { id }, filter);
    const deliveries = new Set((await read('listDeliveries', { id }, 'limit=100')).map(({ deliveryId }) => deliveryId));
    for (const deliveryId of deliveries) await read('getDelivery', { id, deliveryId });
  }
  for (const { id } of await read('listEvents', {}, 'limit=100')) await read('getEvent', { id });
  return responses;
}
