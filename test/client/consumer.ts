import {
  CrewboardError,
  createClient,
  type Delivery,
  DeliveryRefused,
  everyItem,
  type Task,
  verifyWebhook,
  waitForExecution,
} from '../../lib/client/index.ts';

// A program as users write it, without Node.js. The tests compile it with default options against the declarations of
// the client, and run it in a context without Node.js and in a browser.

/** What the program has seen of the service. */
export type Seen = { titles: string[]; statuses: string[]; output: string | undefined; missing: string };

/** Creates two tasks, lists them, runs an agent, and reads a task that does not exist. */
export async function useService(url: string, token: string, name: string): Promise<Seen> {
  const crewboard = createClient({ url, token });
  const body = { name, displayName: 'Consumer', category: 'development' } as const;
  await crewboard.createAgent({ body });
  for (const title of ['Draw it', 'Build it']) await crewboard.createTask({ body: { title, assignedAgent: name } });
  const titles: string[] = [];
  const query = { assigned_agent: name, limit: 1 };
  for await (const task of everyItem(crewboard.listTasks, { query })) titles.push(titleOf(task));

  const { data: started } = await crewboard.executeAgent({ params: { name }, body: { input: 'Build it.' } });
  const statuses: string[] = [];
  const { output } = await waitForExecution(crewboard, {
    name,
    id: started.executionId,
    onChange: ({ status }) => statuses.push(status),
  });
  const missing = await codeOf(crewboard.getTask({ params: { id: started.executionId.replace('ex_', 'tk_') } }));
  return { titles, statuses, output, missing };
}

/** Returns the error code of a call. */
async function codeOf(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return 'none';
  } catch (error) {
    if (!(error instanceof CrewboardError)) throw error;
    return error.code;
  }
}

/** Returns the error code of a request to a URL that cannot be reached. */
export async function reach(url: string): Promise<string> {
  return codeOf(createClient({ url, token: 'none', tries: 1 }).health());
}

/** Receives a delivery as an edge runtime does, and responds with its event or with the reason of its rejection. */
export async function receive(request: Request, secret: string): Promise<Response> {
  try {
    const delivery: Delivery = await verifyWebhook({ body: await request.text(), headers: request.headers, secret });
    const { data } = delivery;
    if ('webhook' in data) return new Response(data.webhook.host);
    return new Response('task' in data ? data.task.title : data.execution.agentName);
  } catch (error) {
    if (error instanceof DeliveryRefused) return new Response(error.reason, { status: 401 });
    throw error;
  }
}

const titleOf = (task: Task): string => task.title;

/** Calls that do not compile. */
export function mistakes(crewboard: ReturnType<typeof createClient>, error: CrewboardError) {
  return [
    // @ts-expect-error A task has no `name`.
    async () => (await crewboard.listTasks()).data[0]?.name,
    // @ts-expect-error An agent has a name.
    () => crewboard.getAgent({ params: {} }),
    // @ts-expect-error An execution is not a list.
    () => everyItem(crewboard.getExecution, { params: { name: 'builder', id: 'ex_1' } }),
    // @ts-expect-error The list needs the name of the agent.
    () => everyItem(crewboard.listAgentExecutions),
    // @ts-expect-error Lists of executions have no outputs.
    () => crewboard.listExecutions({ query: { include: ['output'] } }),
    // @ts-expect-error There is no such error code.
    () => error.code === 'not_fond',
    // @ts-expect-error The delivery is promised.
    () => verifyWebhook({ body: '', headers: {}, secret: 'a secret' }).event,
  ];
}
