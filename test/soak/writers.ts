import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { type TaskStatus, taskStatuses } from '../../lib/contract/tasks/tasks.ts';
import { successOf, versionOf } from '../api.ts';
import { eventsOf, type Ledger, type Written } from './ledger.ts';
import type { Random } from './random.ts';
import type { ServiceProcess } from './service-process.ts';
import { agent } from './setup.ts';
import { untilSuccess } from './until-success.ts';

/** The service, the ledger, the number of events in all and in a second, and a signal that ends the writes early. */
export type Writing = {
  service: ServiceProcess;
  ledger: Ledger;
  events: number;
  perSecond: number;
  random: Random;
  over: AbortSignal;
};

const writers = 8;

const executionsPerSecond = 3;

/** Creates tasks and changes their statuses at a steady rate, until the ledger has its events; executions run beside. */
export async function write(writing: Writing): Promise<void> {
  await Promise.all([...Array.from({ length: writers }, () => writeTasks(writing)), startExecutions(writing)]);
}

/**
 * Starts executions at a steady rate during the first half of the events. Executions that a kill interrupts are then
 * resumed when their leases have expired, during the other half.
 */
async function startExecutions(writing: Writing): Promise<void> {
  const { ledger, events, over } = writing;
  while (ledger.events < events / 2) {
    const request = { params: { name: agent.name }, body: { input: 'Go on.' }, headers: newKey() };
    const started = await untilSuccess(writing, (api) => api.executeAgent(request));
    ledger.executions.add(successOf<{ executionId: string }>(started).executionId);
    await pause(1000 / executionsPerSecond, undefined, { signal: over });
  }
}

async function writeTasks(writing: Writing): Promise<void> {
  const { ledger, events, random } = writing;
  while (ledger.events < events) {
    const request = { body: { title: 'A task' }, headers: newKey() };
    const { id } = successOf(await untilSuccess(writing, (api) => api.createTask(request)));
    const written: Written = { statuses: ['backlog'], version: 1 };
    ledger.tasks.set(id, written);
    await count(writing, id, written);
    for (const status of someStatuses(random)) {
      const changed = await untilSuccess(writing, (api) => api.updateTask({ params: { id }, body: { status } }));
      written.statuses.push(status);
      written.version = versionOf(changed) ?? 0;
      await count(writing, id, written);
    }
  }
}

/** A new Idempotency-Key: the same request can be sent again. */
const newKey = () => ({ 'Idempotency-Key': randomUUID() });

/** Returns the further statuses of a task: some of all, in their order. */
function someStatuses(random: Random): TaskStatus[] {
  return taskStatuses.slice(1).filter(() => random() < 0.6);
}

/** Counts the events of the newest change, and waits for the time that the rate allows them. */
async function count({ ledger, perSecond, over }: Writing, id: string, { statuses }: Written): Promise<void> {
  const newest = eventsOf(id, statuses).length - eventsOf(id, statuses.slice(0, -1)).length;
  ledger.events += newest;
  await pause((newest * writers * 1000) / perSecond, undefined, { signal: over });
}
