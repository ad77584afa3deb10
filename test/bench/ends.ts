import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Bench } from './bench.ts';

/** The end of an execution: when its event arrived, and when it came to its end (ms since 1970). */
type End = { arrivedAt: number; completedAt: number };

/** Hears of the ends of executions at a webhook. */
export type Ends = {
  url: string;
  /** Waits for the end of an execution, which may have come; an error where it has failed. */
  of: (executionId: string) => Promise<End>;
};

type Body = { event: string; data: { execution: { id: string; completedAt: string; error?: string } } };

/** Listens, in this process: it has nothing else to do than to wait. */
export async function listenForEnds({ atEnd }: Bench): Promise<Ends> {
  const awaited = new Map<string, PromiseWithResolvers<End>>();
  const endOf = (id: string) => {
    const end = awaited.get(id) ?? Promise.withResolvers<End>();
    awaited.set(id, end);
    return end;
  };
  const server = createServer((request, response) => {
    const arrivedAt = Date.now();
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      response.writeHead(204).end();
      const { event, data } = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Body;
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
