import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Execution } from '../../lib/contract/executions.ts';
import { type Deployment, newFolder, until } from './deployment.ts';
import type { Receiver } from './receiver.ts';

type ToApi = Pick<Deployment, 'api'>;

/** The two events that an execution can end with. */
export const endings = ['agent.completed', 'agent.failed'];

/** An agent of a name, active and with nothing to say of itself. */
export async function createAgent({ api }: ToApi, name: string, more: Record<string, unknown> = {}): Promise<string> {
  const body = { name, displayName: name, category: 'operations', ...more };
  expect((await api('POST', '/api/agents', { body })).status).toBe(201);
  return name;
}

/** Starts an execution and answers its id. */
export async function execute({ api }: ToApi, agent: string, input: string, more: object = {}): Promise<string> {
  const answer = await api('POST', `/api/agents/${agent}/execute`, { body: { input, ...more } });
  expect([answer.status, answer.body.data?.status]).toEqual([200, 'running']);
  return answer.body.data.executionId as string;
}

/** An execution as it is now. */
export async function readExecution({ api }: ToApi, agent: string, id: string): Promise<Execution> {
  const answer = await api<Execution>('GET', `/api/agents/${agent}/executions/${id}`);
  expect(answer.status).toBe(200);
  return answer.body.data;
}

/** An execution once it has ended. */
export function endOf(service: ToApi, agent: string, id: string, withinMs?: number): Promise<Execution> {
  const look = async () => {
    const execution = await readExecution(service, agent, id);
    return execution.status !== 'running' && execution;
  };
  return until(`${id} ends`, look, withinMs) as Promise<Execution>;
}

/** How many executions of all agents have a status. */
export async function countOf({ api }: ToApi, status: Execution['status']): Promise<number> {
  const { body } = await api('GET', `/api/agents/executions?limit=1&status=${status}`);
  return body.pagination.total;
}

/** What a receiver was told of an execution: each event once, however often it was sent. */
export function toldOf({ received }: Receiver, executionId: string): string[] {
  const own = received.filter(({ body }) => body.data.execution?.id === executionId);
  return [...new Map(own.map(({ body }) => [body.deliveryId, body.event])).values()];
}

/** A file of rules for the simulator. */
export function newScript(rules: readonly object[]): string {
  const file = join(newFolder(), 'script.json');
  writeFileSync(file, JSON.stringify(rules));
  return file;
}
