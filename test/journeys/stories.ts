import { expect } from 'vitest';
import { type Deployment, run, until } from './deployment.ts';

/** An attempt as the history lists it. */
export type Attempt = {
  id: string;
  deliveryId: string;
  attempt: number;
  event: string;
  httpStatus: number;
  durationMs: number;
  deliveredAt: string;
  redelivery: boolean;
  error?: string;
};

type ToToken = Pick<Deployment, 'dataFolder'>;

/** Runs the token command against the service on a data folder. */
export function tokenCommand({ dataFolder }: ToToken, ...args: string[]) {
  return run(['infra/cli/main.ts', 'token', ...args], { CREWBOARD_DATA: dataFolder });
}

/** A token of an organization, as an operator makes it. */
export async function newToken(service: ToToken, organization: string, ...more: string[]): Promise<string> {
  const { code, stdout } = await tokenCommand(service, 'create', '--org', organization, ...more);
  expect(code).toBe(0);
  return stdout.trim();
}

/** Registers a webhook and answers its id. */
export async function register(
  { api }: Pick<Deployment, 'api'>,
  webhook: { url: string; events: string[]; secret?: string },
  token?: string,
): Promise<string> {
  const answer = await api('POST', '/api/webhooks/register', { body: webhook, ...(token && { token }) });
  expect(answer.status).toBe(201);
  return answer.body.data.id as string;
}

/** Puts a task on the board and answers its id. */
export async function createTask({ api }: Pick<Deployment, 'api'>, title: string, token?: string): Promise<string> {
  const answer = await api('POST', '/api/kanban-tasks', { body: { title }, ...(token && { token }) });
  expect(answer.status).toBe(201);
  return answer.body.data.id as string;
}

/** Moves a task to a status. */
export async function moveTask({ api }: Pick<Deployment, 'api'>, id: string, status: string): Promise<void> {
  const answer = await api('PATCH', `/api/kanban-tasks/${id}`, { body: { status } });
  expect(answer.status).toBe(200);
}

/** The attempts of a webhook once there are so many, newest first. */
export function attemptsOf({ api }: Pick<Deployment, 'api'>, webhookId: string, count: number, withinMs?: number) {
  const look = async () => {
    const { body } = await api<Attempt[]>('GET', `/api/webhooks/${webhookId}/deliveries?limit=100`);
    // By what is shown: an attempt that is written down at this very moment may be counted a moment before it is.
    return body.data.length >= count && body.data;
  };
  return until(`the history has ${count} attempts`, look, withinMs) as Promise<Attempt[]>;
}
