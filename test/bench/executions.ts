import { text } from 'node:stream/consumers';
import { successOf } from '../api.ts';
import { startLoopbackServer } from '../servers/loopback.ts';
import type { Bench } from './bench.ts';
import { byCallers } from './scenario.ts';
import type { Service } from './service.ts';

/** The times of an execution, in ms from its request: to the response, to its end, and to the delivery of the end. */
export type Times = Record<'answered' | 'ended' | 'delivered', number>;

type End = { arrivedAt: number; completedAt: number };

export type EndReceiver = {
  url: string;
  /** Waits for the end of an execution; throws where it has failed. */
  endOf: (executionId: string) => Promise<End>;
};

type Body = { event: string; data: { execution: { id: string; completedAt: string; error?: string } } };

/** Starts the receiver in this process, which only waits meanwhile. */
export async function startEndReceiver({ atEnd }: Bench): Promise<EndReceiver> {
  const awaited = new Map<string, PromiseWithResolvers<End>>();
  const awaitedEnd = (id: string) => {
    const end = awaited.get(id) ?? Promise.withResolvers<End>();
    awaited.set(id, end);
    return end;
  };
  const { url, close } = await startLoopbackServer(async (request, response) => {
    const arrivedAt = Date.now();
    const { event, data } = JSON.parse(await text(request)) as Body;
    response.writeHead(204).end();
    const { id, completedAt, error } = data.execution;
    if (event === 'agent.completed') awaitedEnd(id).resolve({ arrivedAt, completedAt: Date.parse(completedAt) });
    else awaitedEnd(id).reject(new Error(`The execution ${id} has failed: ${error}`));
  });
  atEnd(close);
  return { url, endOf: (id) => awaitedEnd(id).promise };
}

/**
 * Starts executions of an agent of a new organization by callers that each wait for the delivery of the end.
 *
 * @param capabilities the capabilities of the agent; one with tools makes more steps if the model calls them
 */
export async function runExecutions(
  { service, ends }: { service: Service; ends: EndReceiver },
  callers: number,
  count: number,
  capabilities: readonly string[] = [],
): Promise<{ times: Times[]; rate: number }> {
  const api = await service.newOrganization();
  const agent = { name: 'worker', displayName: 'Worker', category: 'development', capabilities };
  successOf(await api.createAgent({ body: agent }));
  const events = ['agent.completed', 'agent.failed'];
  successOf(await api.registerWebhook({ body: { url: ends.url, events, secret: 'a secret to sign with' } }));
  const request = { params: { name: 'worker' }, body: { input: 'Do what there is to do.' } };
  const times: Times[] = [];
  const startedAt = performance.now();
  await byCallers(callers, count, async () => {
    const sentAt = Date.now();
    const { executionId } = successOf<{ executionId: string }>(await api.executeAgent(request));
    const answered = Date.now() - sentAt;
    const { arrivedAt, completedAt } = await ends.endOf(executionId);
    times.push({ answered, ended: completedAt - sentAt, delivered: arrivedAt - sentAt });
  });
  return { times, rate: (count * 1000) / (performance.now() - startedAt) };
}
