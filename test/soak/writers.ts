import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { type TaskStatus, taskStatuses } from '../../lib/contract/tasks.ts';
import { eventsOf, type Ledger, type Written } from './ledger.ts';
import type { Random } from './random.ts';
import type { ServiceProcess } from './service-process.ts';
import { agent } from './stage.ts';

/** What is written: to which service, into which ledger, how many events and how many of them in a second. */
export type Writing = {
  service: ServiceProcess;
  ledger: Ledger;
  events: number;
  perSecond: number;
  random: Random;
  /** Ends the writing early. */
  over: AbortSignal;
};

/** An answer of the service that is a success. */
type Answer = { id: string; version: number };

/** Longer than a function has, so that what is given up cannot happen later. */
const answeredWithinMs = 40_000;

/** So many write side by side. */
const writers = 8;

const executionsPerSecond = 3;

/** Creates tasks and moves each over the board, at a steady rate, until the ledger has its events; agents work beside. */
export async function write(writing: Writing): Promise<void> {
  await Promise.all([...Array.from({ length: writers }, () => writeTasks(writing)), startExecutions(writing)]);
}

/**
 * Starts executions at a steady rate during the first half of the events: what a kill leaves of them is then taken up,
 * when its lease has ended, while the other half is written.
 */
async function startExecutions(writing: Writing): Promise<void> {
  const { ledger, events, over } = writing;
  while (ledger.events < events / 2) {
    const path = `/api/agents/${agent.name}/execute`;
    const { id } = await untilDone(writing, 'POST', path, { input: 'Go on.' }, randomUUID());
    ledger.executions.add(id);
    await pause(1000 / executionsPerSecond, undefined, { signal: over });
  }
}

async function writeTasks(writing: Writing): Promise<void> {
  const { ledger, events, random } = writing;
  while (ledger.events < events) {
    const path = '/api/kanban-tasks';
    const { id } = await untilDone(writing, 'POST', path, { title: 'Endures' }, randomUUID());
    const written: Written = { statuses: ['backlog'], version: 1 };
    ledger.tasks.set(id, written);
    await note(writing, id, written);
    for (const status of pathOver(random)) {
      const { version } = await untilDone(writing, 'PATCH', `${path}/${id}`, { status });
      written.statuses.push(status);
      written.version = version;
      await note(writing, id, written);
    }
  }
}

/** The statuses that a task comes to after the first: some of the board's, in their order. */
function pathOver(random: Random): TaskStatus[] {
  return taskStatuses.slice(1).filter(() => random() < 0.6);
}

/** Counts the events of the newest change, and waits as long as the rate asks for. */
async function note({ ledger, perSecond, over }: Writing, id: string, { statuses }: Written): Promise<void> {
  const told = eventsOf(id, statuses).length - eventsOf(id, statuses.slice(0, -1)).length;
  ledger.events += told;
  await pause((told * writers * 1000) / perSecond, undefined, { signal: over });
}

/** Sends a request again for as long as no answer says how it ended. */
async function untilDone(
  { service, over }: Writing,
  method: string,
  path: string,
  body: unknown,
  key?: string,
): Promise<Answer> {
  for (;;) {
    try {
      const answer = await fetch(`${service.url()}${path}`, {
        method,
        headers: {
          Authorization: `Bearer ${service.token()}`,
          'Content-Type': 'application/json',
          ...(key && { 'Idempotency-Key': key }),
        },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(answeredWithinMs),
      });
      const text = await answer.text();
      const { data } = answer.ok ? JSON.parse(text) : {};
      if (answer.ok)
        return { id: data.id ?? data.executionId, version: Number(answer.headers.get('ETag')?.replaceAll('"', '')) };
      if (answer.status < 500) throw new Error(`${method} ${path} was answered ${answer.status}: ${text}`);
    } catch (error) {
      const cut = error instanceof TypeError || (error instanceof Error && error.name === 'TimeoutError');
      if (!cut) throw error;
    }
    await pause(100, undefined, { signal: over });
  }
}
