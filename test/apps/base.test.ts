import { expect, it } from 'vitest';
import { base, setBase } from '../../lib/apps/base.ts';
import { queueOf } from '../../lib/apps/queues.ts';
import type { QueueName } from '../../lib/deployment/queues.ts';
import type { Table } from '../../lib/table/client.ts';

it('the base of a process has the table and the queues that it is given', () => {
  const table = { name: 'given' } as Table;
  const sentTo: QueueName[] = [];
  const queue = (name: QueueName) => ({ send: async () => void sentTo.push(name) });
  setBase({ environment: {}, clock: Date.now, table, queue });
  expect(base().table).toBe(table);
  queueOf(base(), 'purges').send([]);
  expect(sentTo).toEqual(['purges']);
});
