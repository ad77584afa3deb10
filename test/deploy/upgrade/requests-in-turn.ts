import { setTimeout as pause } from 'node:timers/promises';
import { type Api, dataOf, errorOf, type Request } from '../../api.ts';
import { createAgent, register } from '../../journeys/requests.ts';
import { type Receiver, startReceiver } from '../../sender/receiver.ts';
import type { Answer } from '../../service.ts';
import { executed } from '../agents.ts';
import type { Deployed } from '../deployed.ts';

/**
 * The time between two requests, in milliseconds. The functions need the cores too, and a process must not get 20 requests, which
 * it would report to the shared bucket of the organization at the same moment as all others.
 */
const intervalMs = 200;

/** A request that failed, and its response. */
type Failure = { operation: string; error: string };

/** Requests that are sent one after the other until they are stopped. */
export type RequestsInTurn = {
  receiver: Receiver;
  /** The ids of the tasks that were created. */
  created: string[];
  failures: Failure[];
  /**
   * Requests that the gateway answered with 5xx, and that succeeded when they were repeated. The emulator ends the calls of a
   * function that it updates; in AWS they go on.
   */
  interrupted: Failure[];
  /** Stops after the current round. */
  stop: () => Promise<void>;
};

/** Starts to send requests to operations of each kind, as the clients of an organization do, and subscribes a receiver. */
export async function startRequestsInTurn(deployed: Deployed): Promise<RequestsInTurn> {
  const { api } = deployed;
  const receiver = await startReceiver();
  const webhook = await register(deployed, { url: receiver.url, events: ['task.created'] });
  await createAgent(deployed, 'steady');
  const execution = await executed(deployed, 'steady', 'Work.');
  const created: string[] = [];
  const [failures, interrupted]: [Failure[], Failure[]] = [[], []];
  let stopped = false;

  /** Sends a request, and repeats it like a client if the gateway answers with 5xx. */
  async function send(operation: keyof Api, request: Request = {}, isRepeated = false): Promise<Answer | undefined> {
    const answer = await api[operation](request);
    await pause(intervalMs);
    if (answer.status >= 200 && answer.status < 300) return answer;
    const failure = { operation, error: `${answer.status} ${JSON.stringify(answer.body)}` };
    // An answer of the service itself has an error.
    if (answer.status < 500 || errorOf(answer) || isRepeated) {
      failures.push(failure);
      return undefined;
    }
    interrupted.push(failure);
    return send(operation, request, true);
  }

  async function round(): Promise<void> {
    const title = `Task ${created.length}`;
    const task = await send('createTask', {
      body: { title },
      headers: { 'Idempotency-Key': `task-${created.length}` },
    });
    if (!task) return;
    const { id } = dataOf(task);
    created.push(id);
    const ofTask = { params: { id } };
    const ofAgent = { params: { name: 'steady' } };
    const ofExecution = { params: { name: 'steady', id: execution.id } };
    const ofWebhook = { params: { id: webhook } };
    await send('getTask', ofTask);
    await send('updateTask', { ...ofTask, body: { status: 'assigned' } });
    await send('listTasks', { query: 'status=assigned' });
    await send('getAgent', ofAgent);
    await send('listAgents');
    await send('updateAgent', { ...ofAgent, body: { description: title } });
    await send('listSkills', ofAgent);
    await send('listSkillCatalogue');
    await send('assignSkill', { ...ofAgent, body: { skillId: 'sk_code-review' } });
    await send('unassignSkill', { params: { name: 'steady', skillId: 'sk_code-review' } });
    await send('listPrompts', ofAgent);
    await send('listExecutions');
    await send('listAgentExecutions', ofAgent);
    await send('getExecution', ofExecution);
    await send('listSteps', ofExecution);
    await send('getMetrics', ofAgent);
    await send('listWebhooks');
    await send('updateWebhook', { ...ofWebhook, body: { description: title } });
    const deliveries = await send('listDeliveries', ofWebhook);
    const [attempt] = deliveries ? dataOf<{ deliveryId: string }[]>(deliveries) : [];
    if (attempt) await send('getDelivery', { params: { id: webhook, deliveryId: attempt.deliveryId } });
    const events = await send('listEvents', { query: 'limit=1' });
    const [event] = events ? dataOf<{ id: string }[]>(events) : [];
    if (event) await send('getEvent', { params: { id: event.id } });
    await send('health');
  }

  async function rounds(): Promise<void> {
    while (!stopped) await round();
  }
  const ended = rounds();
  return {
    ...{ receiver, created, failures, interrupted },
    stop: () => {
      stopped = true;
      return ended;
    },
  };
}
