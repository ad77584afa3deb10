import { type Api, type Thing, walk } from './api.ts';

/** All that an organization can read of itself, as the texts of the answers by path, and where a total is not true. */
export type Contents = { answers: Map<string, string>; wrongTotals: string[] };

/** Reads every list to its end and every thing in them. */
export async function readContents(api: Api): Promise<Contents> {
  const answers = new Map<string, string>();
  const wrongTotals: string[] = [];
  const read = async (path: string) => {
    const answer = await api('GET', path);
    answers.set(path, answer.text);
    return answer.data;
  };
  const list = async (path: string) => {
    const { things, texts, total } = await walk(api, path);
    answers.set(path, texts.join('\n'));
    const different = new Set(things.map(({ id }) => id)).size;
    if (things.length !== total || different !== total)
      wrongTotals.push(`GET ${path} says ${total}, has ${things.length}, of which ${different} are different`);
    return things;
  };

  for (const { id } of await list('/api/kanban-tasks')) await read(`/api/kanban-tasks/${id}`);
  for (const { name } of await list('/api/agents')) {
    await read(`/api/agents/${name}`);
    await read(`/api/agents/${name}/skills`);
    for (const period of ['7d', '30d', '90d']) await read(`/api/agents/${name}/metrics?period=${period}`);
    await list(`/api/agents/${name}/executions`);
  }
  for (const { agentName, id } of await list('/api/agents/executions'))
    await read(`/api/agents/${agentName}/executions/${id}`);
  for (const { id } of (await read('/api/webhooks')) as Thing[]) {
    await read(`/api/webhooks/${id}`);
    await list(`/api/webhooks/${id}/deliveries`);
  }
  return { answers, wrongTotals };
}

/** The paths whose answers are no longer what they were. */
export function changesBetween(before: Contents, after: Contents): string[] {
  const paths = new Set([...before.answers.keys(), ...after.answers.keys()]);
  return [...paths].filter((path) => before.answers.get(path) !== after.answers.get(path));
}
