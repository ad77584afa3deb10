import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Execution } from '../../lib/contract/executions/executions.ts';
import type { TaskDetail } from '../../lib/contract/tasks/tasks.ts';
import type { DeliveryRecord } from '../../lib/contract/webhooks/webhooks.ts';
import { type Api, dataOf, successOf } from '../api.ts';
import type { Receiver } from '../sender/receiver.ts';
import { type Deployment, newFolder, run, until } from './deployment.ts';

type ToToken = Pick<Deployment, 'dataFolder'>;
type ToApi = { api: Api };

/** Runs the token command against the service on a data folder. */
export function tokenCommand({ dataFolder }: ToToken, ...args: string[]) {
  return run(['infra/cli/main.ts', 'token', ...args], { CREWBOARD_DATA: dataFolder });
}

/** Creates a token of an organization, as an operator does. */
export async function newToken(service: ToToken, organization: string, ...more: string[]): Promise<string> {
  const { code, stdout } = await tokenCommand(service, 'create', '--org', organization, ...more);
  expect(code).toBe(0);
  return stdout.trim();
}

/** Registers a webhook and returns its id. */
export async function register(
  { api }: ToApi,
  webhook: { url: string; events: string[]; secret?: string; autoRecover?: boolean },
  token?: string,
): Promise<string> {
  return successOf<{ id: string }>(await api.registerWebhook({ body: webhook, ...(token && { token }) })).id;
}

/** Creates a task and returns its id. */
export async function createTask({ api }: ToApi, title: string, token?: string): Promise<string> {
  return successOf(await api.createTask({ body: { title }, ...(token && { token }) })).id;
}

/** Changes the status of a task. */
export async function moveTask({ api }: ToApi, id: string, status: string): Promise<void> {
  successOf(await api.updateTask({ params: { id }, body: { status } }));
}

/** Reads a task. */
export async function readTask({ api }: ToApi, id: string): Promise<TaskDetail> {
  return successOf<TaskDetail>(await api.getTask({ params: { id } }));
}

/** Returns the attempts of a webhook, newest first, once the history has this number of them. */
export function attemptsOf({ api }: ToApi, id: string, count: number, withinMs?: number): Promise<DeliveryRecord[]> {
  const look = async () => {
    const attempts = dataOf<DeliveryRecord[]>(await api.listDeliveries({ params: { id }, query: 'limit=100' }));
    // Not by the total: an attempt that is being written may be counted a moment before it is listed.
    return attempts.length >= count && attempts;
  };
  return until(`the history has ${count} attempts`, look, withinMs) as Promise<DeliveryRecord[]>;
}

/** The two events that an execution can end with. */
export const endings = ['agent.completed', 'agent.failed'];

/** Creates an active agent and returns its name. */
export async function createAgent({ api }: ToApi, name: string, more: Record<string, unknown> = {}): Promise<string> {
  successOf(await api.createAgent({ body: { name, displayName: name, category: 'operations', ...more } }));
  return name;
}

/** Starts an execution and returns its id. */
export async function execute({ api }: ToApi, name: string, input: string, more: object = {}): Promise<string> {
  const answer = await api.executeAgent({ params: { name }, body: { input, ...more } });
  return successOf<{ executionId: string }>(answer).executionId;
}

async function readExecution({ api }: ToApi, name: string, id: string): Promise<Execution> {
  return successOf<Execution>(await api.getExecution({ params: { name, id } }));
}

/** Returns an execution once it has ended. */
export function endOf(service: ToApi, name: string, id: string, withinMs?: number): Promise<Execution> {
  const look = async () => {
    const execution = await readExecution(service, name, id);
    return execution.status !== 'running' && execution;
  };
  return until(`${id} ends`, look, withinMs) as Promise<Execution>;
}

/** Returns the events that a receiver got about an execution, each once, in alphabetical order. */
export function eventsAbout({ received }: Receiver, executionId: string): string[] {
  const own = received.filter(({ body }) => body.data.execution?.id === executionId);
  return [...new Map(own.map(({ body }) => [body.deliveryId, body.event])).values()].sort();
}

/** Writes a file of rules for the model simulator and returns its path. */
export function newScript(rules: readonly object[]): string {
  const file = join(newFolder(), 'script.json');
  writeFileSync(file, JSON.stringify(rules));
  return file;
}
