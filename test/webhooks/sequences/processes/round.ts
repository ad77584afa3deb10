import { setTimeout as pause } from 'node:timers/promises';
import type { TaskDetail } from '../../../../lib/contract/tasks/tasks.ts';
import type { Delivery, DeliveryRecord } from '../../../../lib/contract/webhooks/webhooks.ts';
import { deliveryIdOf } from '../../../../lib/webhooks/attempts/derived-ids.ts';
import { type Api, dataOf, errorOf, paginationOf, successOf } from '../../../api.ts';
import type { Answer } from '../../../service.ts';
import type { ReceiverMode } from '../sequence.ts';
import type { Receivers } from './receivers.ts';
import type { ShortStep } from './short-sequences.ts';

/** The service under test, whose address changes with each start, and when it was killed, up to the end of its processes. */
export type Target = { api: () => Api; kills: { from: number; until: number }[] };

/** A sequence with its webhook, which gets the events of the tasks of a project of its own. */
export type Run = { steps: readonly ShortStep[]; project: string; webhookId: string; requested: Set<string> };

/** How long the deliveries of a round may take to end, in milliseconds. */
const endsWithinMs = 100_000;

/** Sends a request again and again until the service, which may be down, answers. */
async function answerOf(target: Target, request: (api: Api) => Promise<Answer>): Promise<Answer> {
  for (;;) {
    const answer = await request(target.api()).catch(() => undefined);
    if (answer && answer.status < 500) return answer;
    await pause(100);
  }
}

/** Registers the webhook of a sequence. */
export async function register(
  target: Target,
  receivers: Receivers,
  steps: readonly ShortStep[],
  name: string,
): Promise<Run> {
  const project = `proj_${name}`;
  const body = { url: receivers.urlOf(project), events: ['task.created'], taskFilter: { projectId: project } };
  const answer = await answerOf(target, (api) => api.registerWebhook({ body }));
  return { steps, project, webhookId: successOf<{ id: string }>(answer).id, requested: new Set() };
}

/** Carries the steps of a sequence out. Requests that the service does not answer are lost. */
export async function carryOut(target: Target, receivers: Receivers, run: Run): Promise<void> {
  const sent: Promise<unknown>[] = [];
  for (const step of run.steps) {
    await pause(step.after);
    sent.push(carryOutStep(target, receivers, run, step).catch(() => {}));
  }
  await Promise.all(sent);
}

async function carryOutStep(target: Target, receivers: Receivers, run: Run, step: ShortStep): Promise<unknown> {
  const { project } = run;
  switch (step.does) {
    case 'publish': {
      const body = { title: 'A task', projectId: project };
      return Promise.all(Array.from({ length: step.events }, () => target.api().createTask({ body })));
    }
    case 'set receiver':
      return receivers.set(project, step.mode);
    case 'redeliver': {
      const id = receivers.postsOf(project).map(({ deliveryId }) => deliveryId)[step.event];
      if (id === undefined) return;
      run.requested.add(id);
      return target.api().redeliverDelivery({ params: { id: run.webhookId, deliveryId: id } });
    }
    case 'set rate':
      return update(target, run, { maxPerSecond: step.maxPerSecond });
    case 'pause and resume':
      await update(target, run, { active: false });
      return update(target, run, { active: true });
    default:
      return update(target, run, { active: step.does === 'resume' });
  }
}

const update = (target: Target, { webhookId: id }: Run, body: object) =>
  target.api().updateWebhook({ params: { id }, body });

/** Makes the receiver healthy and the webhook active, waits until its deliveries have ended, and returns what is wrong. */
export async function check(target: Target, receivers: Receivers, run: Run): Promise<string[]> {
  const { project, webhookId: id } = run;
  receivers.set(project, 'healthy' satisfies ReceiverMode);
  await answerOf(target, (api) => api.updateWebhook({ params: { id }, body: { active: true, maxPerSecond: 50 } }));
  const tasks = dataOf<TaskDetail[]>(
    await answerOf(target, (api) => api.listTasks({ query: `project_id=${project}&limit=100` })),
  );
  const deliveries = tasks.map((task) => deliveryOf(task, id));
  const ended = await Promise.all(deliveries.map((delivery) => endOf(target, run, delivery)));
  const wrong = ended.flatMap((end) => (typeof end === 'string' ? [end] : faultsOf(target, receivers, run, end)));
  if (wrong.length > 0) return wrong;
  const missed = ended.some((end) => typeof end !== 'string' && end.state !== 'delivered');
  if (missed) wrong.push(...(await recover(target, run, deliveries)));
  return [...wrong, ...(await faultsOfHistory(target, run, deliveries))];
}

const deliveryOf = ({ id: item, createdAt }: TaskDetail, webhookId: string) =>
  deliveryIdOf(Date.parse(createdAt), { item, version: 1, event: 'task.created', webhookId });

/** Returns a delivery once it has ended, or why it cannot be read or has not ended. */
async function endOf(target: Target, { webhookId: id }: Run, deliveryId: string): Promise<Delivery | string> {
  for (const deadline = Date.now() + endsWithinMs; ; await pause(250)) {
    const answer = await answerOf(target, (api) => api.getDelivery({ params: { id, deliveryId } }));
    const delivery = answer.status === 200 ? dataOf<Delivery>(answer) : undefined;
    if (delivery && delivery.state !== 'pending' && delivery.state !== 'retrying') return delivery;
    if (Date.now() > deadline) return `${deliveryId} is ${delivery?.state ?? errorOf(answer).code}`;
  }
}

function faultsOf(
  { kills }: Target,
  receivers: Receivers,
  run: Run,
  { deliveryId, state, attempts }: Delivery,
): string[] {
  const arrivals = receivers.postsOf(run.project).filter((post) => post.deliveryId === deliveryId && post.isTaken);
  const wrong: string[] = [];
  if (state === 'delivered' && arrivals.length === 0) wrong.push('is delivered but has not arrived');
  if (state === 'exhausted' && attempts.length < 4) wrong.push(`is exhausted after ${attempts.length} attempts`);
  if (attempts.some(({ attempt }, at) => attempt !== at + 1)) wrong.push('has no numbers of its own for its attempts');
  const unexplained = arrivals.slice(1).filter(({ at }, before) => {
    const earlier = arrivals[before]?.at ?? 0;
    return !kills.some(({ from, until }) => until >= earlier && from <= at);
  });
  if (unexplained.length > 0 && !run.requested.has(deliveryId)) wrong.push('has arrived twice without need');
  return wrong.map((fault) => `${deliveryId} ${fault}`);
}

/** Recovers what a webhook has missed, and returns what has not arrived then. */
async function recover(target: Target, run: Run, deliveries: readonly string[]): Promise<string[]> {
  const { webhookId: id } = run;
  const body = {
    since: new Date(Date.now() - 3_600_000).toISOString(),
    include: ['exhausted', 'skipped', 'never_sent'],
  };
  const answer = await answerOf(target, (api) => api.recoverWebhook({ params: { id }, body }));
  if (answer.status >= 300) return [`The recovery of ${id} failed: ${errorOf(answer).code}`];
  for (const deadline = Date.now() + endsWithinMs; Date.now() < deadline; await pause(500)) {
    const states = await Promise.all(
      deliveries.map(async (deliveryId) =>
        dataOf<Delivery>(await answerOf(target, (api) => api.getDelivery({ params: { id, deliveryId } }))),
      ),
    );
    if (states.every(({ state }) => state === 'delivered')) return [];
  }
  return [`A recovery of ${id} does not send all that it has missed`];
}

async function faultsOfHistory(
  target: Target,
  { webhookId: id }: Run,
  deliveries: readonly string[],
): Promise<string[]> {
  const page = await answerOf(target, (api) => api.listDeliveries({ params: { id }, query: 'limit=100' }));
  const records = dataOf<DeliveryRecord[]>(page);
  const ids = new Set(records.map((record) => record.id));
  const unknown = records.filter(({ deliveryId }) => !deliveries.includes(deliveryId));
  const isExact = ids.size === records.length && paginationOf(page).total === records.length && unknown.length === 0;
  return isExact
    ? []
    : [
        `The history of ${id} has ${ids.size} attempts in ${records.length} rows, and counts ${paginationOf(page).total}`,
      ];
}
