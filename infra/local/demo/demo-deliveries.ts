import { createServer } from 'node:http';
import type { Client } from '../../../lib/client/client.ts';
import type { EventOfWebhook, TaskStatus } from '../../../lib/client/operations.ts';
import { type DemoClient, waitFor } from './demo-client.ts';
import { createDemoTask, type Demo } from './demo-steps.ts';

type DeliveryState = EventOfWebhook['state'];

/** The project of the task whose events the webhook gets. */
const projectId = 'proj_release';

/** How near the next attempt must be, and how long the demo then waits for the end of the retries, in seconds. */
const soonSeconds = 15;
const retriesSeconds = 60;

/** How many events wait for their first attempt, at one attempt a second, when the webhook is paused. */
const waitingEvents = 5;

/**
 * Leaves a paused webhook whose deliveries have each state: its receiver answers one event and fails at the others, the rate
 * holds back some, and the last one happens in the pause. The pause keeps the states as they are, although the receiver
 * stops. A delivery is `exhausted` only if the retries of the service end soon enough.
 */
export async function leaveDeliveries({ client, secret }: Demo): Promise<void> {
  const { api } = client;
  const receiver = await startFailingReceiver();
  try {
    const webhook = await register(client, receiver.url, secret);
    const params = { id: webhook };
    const statesOf = async () => (await listEvents(api, webhook)).map(({ state }) => state);
    const until = (state: DeliveryState, withinSeconds = 30) =>
      waitFor(client, `A delivery that is ${state}`, withinSeconds, async () => (await statesOf()).includes(state));

    const task = await createDemoTask({ client }, { title: 'Publish 1.5', projectId });
    const move = (status: TaskStatus) => api.updateTask({ params: { id: task }, body: { status } });
    await until('delivered');
    receiver.fail();
    await api.updateWebhook({ params, body: { maxPerSecond: 1 } });
    await move('assigned');
    const retries = await waitFor(client, 'A failed attempt', 30, () => retriesEndSoon(api, webhook));
    if (retries.endSoon) {
      await until('exhausted', retriesSeconds);
      await move('in_progress');
      await until('retrying');
    }
    const comment = (nth: number) =>
      api.commentOnTask({ params: { id: task }, body: { text: `Note ${nth} on the publication.` } });
    await Promise.all(Array.from({ length: waitingEvents }, (_, at) => comment(at + 1)));
    await api.updateWebhook({ params, body: { active: false } });
    await move('qa_review');
    await until('skipped');
    // From now on it stays, as the other resources.
    client.created = client.created.filter(({ id }) => id !== webhook);
    print(webhook, await statesOf());
  } finally {
    receiver.stop();
  }
}

async function register(client: DemoClient, url: string, secret: string): Promise<string> {
  const { data: webhook } = await client.api.registerWebhook({
    body: {
      ...{ url, secret, description: 'Demo: a receiver that fails', taskFilter: { projectId } },
      events: ['task.created', 'task.status_changed', 'task.commented'],
    },
  });
  client.created.push({ kind: 'webhook', id: webhook.id });
  console.log(`\nRegistered the webhook ${webhook.id}, whose receiver will fail.`);
  return webhook.id;
}

async function listEvents(api: Client, webhook: string): Promise<EventOfWebhook[]> {
  return (await api.listWebhookEvents({ params: { id: webhook }, query: { limit: 100 } })).data;
}

/** Returns whether the retries of the delivery that has failed end soon; `undefined` if none has failed. */
async function retriesEndSoon(api: Client, webhook: string): Promise<{ endSoon: boolean } | undefined> {
  const failed = (await listEvents(api, webhook)).find(({ state }) => state === 'retrying' || state === 'exhausted');
  if (!failed) return undefined;
  const { nextAttemptAt } = failed;
  return { endSoon: !nextAttemptAt || Date.parse(nextAttemptAt) - Date.now() < soonSeconds * 1_000 };
}

function print(webhook: string, states: readonly DeliveryState[]): void {
  const counts = new Map<DeliveryState, number>();
  for (const state of states) counts.set(state, (counts.get(state) ?? 0) + 1);
  const list = [...counts].map(([state, count]) => `${count} ${state}`).join(', ');
  console.log(`The webhook ${webhook} is paused, and its deliveries are: ${list}.`);
  if (!counts.has('exhausted'))
    console.log(
      'None is exhausted, because the retries of this service take longer than the demo. To see one, start the service with RETRY_LADDER=2,3,4 npm start.',
    );
}

/** Starts a receiver on a free loopback port that accepts everything until it is told to fail. */
async function startFailingReceiver() {
  let status = 204;
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(status).end(status === 204 ? undefined : 'The demo is out of order.');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return {
    url: `http://127.0.0.1:${port}/releases`,
    fail: () => {
      status = 503;
    },
    stop: () => server.close(),
  };
}
