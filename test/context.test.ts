import { expect, it } from 'vitest';
import { queueOf } from '../lib/apps/queues.ts';
import { processContext, setProcessContext } from '../lib/context.ts';
import type { QueueName } from '../lib/deployment/queues.ts';
import type { Table } from '../lib/table/client.ts';

it('the context of a process has the table and the queues that it is given', () => {
  const table = { name: 'given' } as Table;
  const sentTo: QueueName[] = [];
  const queue = (name: QueueName) => ({ send: async () => void sentTo.push(name) });
  setProcessContext({ environment: {}, clock: Date.now, table, queue });
  expect(processContext().table).toBe(table);
  queueOf(processContext(), 'purges').send([]);
  expect(sentTo).toEqual(['purges']);
});
