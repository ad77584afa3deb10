import type { Operation } from '../../lib/contract/routes.ts';
import { type Api, dataOf, paginationOf, type Request, successOf } from '../api.ts';

/** All that an organization can read: the responses by request, and a sentence for each wrong total. */
export type Contents = { answers: Map<string, string>; wrongTotals: string[] };

type Listed = { id: string; name: string; agentName: string };

/** Reads every list to its end, and every resource in them. */
export async function readContents(api: Api): Promise<Contents> {
  const answers = new Map<string, string>();
  const wrongTotals: string[] = [];
  const send = async (operation: Operation, request: Request = {}) => {
    const answer = await api[operation](request);
    successOf(answer);
    answers.set(wordsFor(operation, request), JSON.stringify(answer.body));
    return answer;
  };
  const list = async (operation: Operation, request: Request = {}) => {
    const listed: Listed[] = [];
    let total: number | undefined;
    for (;;) {
      const page = await send(operation, { ...request, query: `limit=100&offset=${listed.length}` });
      total ??= paginationOf(page).total;
      const items = dataOf<Listed[]>(page);
      if (items.length === 0) break;
      listed.push(...items);
    }
    const different = new Set(listed.map(({ id }) => id)).size;
    if (listed.length !== total || different !== total)
      wrongTotals.push(
        `${wordsFor(operation, request)} says ${total}, has ${listed.length}, of which ${different} are different`,
      );
    return listed;
  };

  for (const { id } of await list('listTasks')) await send('getTask', { params: { id } });
  for (const { name } of await list('listAgents')) {
    const params = { name };
    await send('getAgent', { params });
    await send('listSkills', { params });
    for (const period of ['7d', '30d', '90d']) await send('getMetrics', { params, query: `period=${period}` });
    await list('listAgentExecutions', { params });
  }
  for (const period of ['7d', '30d', '90d']) await send('getExecutionMetrics', { query: `period=${period}` });
  for (const { agentName, id } of await list('listExecutions'))
    await send('getExecution', { params: { name: agentName, id } });
  for (const { id } of dataOf<Listed[]>(await send('listWebhooks'))) {
    await send('getWebhook', { params: { id } });
    await list('listDeliveries', { params: { id } });
  }
  return { answers, wrongTotals };
}

export function changesBetween(before: Contents, after: Contents): string[] {
  const requests = new Set([...before.answers.keys(), ...after.answers.keys()]);
  return [...requests].filter((request) => before.answers.get(request) !== after.answers.get(request));
}

/** Names a request: `getTask tk_…`. */
function wordsFor(operation: Operation, { params = {}, query = '' }: Request): string {
  return [operation, ...Object.values(params), query].filter(Boolean).join(' ');
}
