import { startFauxqs } from 'fauxqs';
import { type QueueName, queues } from '../../lib/contract/deployment.ts';

/** The running queues: where SQS answers, and each queue's URL. */
export type Queues = { endpoint: string; urls: Record<QueueName, string>; stop: () => Promise<void> };

/**
 * Starts SQS in this process, in memory: the table is the truth, and the sweep at start wakes what was waiting
 * (design §7).
 */
export async function startQueues(): Promise<Queues> {
  const server = await startFauxqs({ port: 0, logger: false });
  const names = Object.entries(queues) as [QueueName, (typeof queues)[QueueName]][];
  const urls = Object.fromEntries(
    names.map(([name, { visibilitySeconds }]) => {
      const attributes = { VisibilityTimeout: String(visibilitySeconds) };
      return [name, server.createQueue(name, { region: 'local', attributes }).queueUrl];
    }),
  );
  return { endpoint: server.address, urls: urls as Record<QueueName, string>, stop: () => server.stop() };
}
