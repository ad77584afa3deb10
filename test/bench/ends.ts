import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Bench } from './bench.ts';

/** The end of an execution, and the arrival of its event (ms since 1970). */
type End = { arrivedAt: number; completedAt: number };

/** A receiver of the events of ended executions. */
export type Ends = {
  url: string;
  /** Waits for the end of an execution; throws where it has failed. */
  of: (executionId: string) => Promise<End>;
};

type Body = { event: string; data: { execution: { id: string; completedAt: string; error?: string } } };

/** Starts the receiver in this process, which only waits meanwhile. */
export async function listenForEnds({ atEnd }: Bench): Promise<Ends> {
  const awaited = new Map<string, PromiseWithResolvers<End>>();
  const endOf = (id: string) => {
    const end = awaited.get(id) ?? Promise.withResolvers<End>();
    awaited.set(id, end);
    return end;
  };
  const server = createServer((request, response) => {
    const arrivedAt = Date.now();
    text(request).then((body) => {
      response.writeHead(204).end();
      const { event, data } = JSON.parse(body) as Body;
      const { id, completedAt, error } = data.execution;
      if (event === 'agent.completed') endOf(id).resolve({ arrivedAt, completedAt: Date.parse(completedAt) });
      else endOf(id).reject(new Error(`The execution ${id} has failed: ${error}`));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  atEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, of: (id) => endOf(id).promise };
}
