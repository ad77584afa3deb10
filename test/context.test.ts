import { expect, it } from 'vitest';
import { processContext, setProcessContext } from '../lib/context.ts';
import type { QueueName } from '../lib/deployment/queues.ts';
import { sendMessages } from '../lib/sqs/queue.ts';
import type { Table } from '../lib/table/client.ts';

it('the context of a process has the table and the queues that it is given', async () => {
  const table = { name: 'given' } as Table;
  const sentTo: QueueName[] = [];
  const queues = new Map([['executions' as const, async () => void sentTo.push('executions')]]);
  setProcessContext({ environment: {}, clock: Date.now, table, queues });
  expect(processContext().table).toBe(table);
  await sendMessages(processContext(), 'executions', []);
  expect(sentTo).toEqual(['executions']);
});
