import { ThrottlingException } from '@aws-sdk/client-dynamodb';
import { expect, it } from 'vitest';
import * as rows from '../../lib/contract/tasks.ts';
import { serve } from '../../lib/http/serve.ts';
import { openTable } from '../../lib/table/client.ts';
import { createTask, getTask, listTasks } from '../../lib/tasks/tasks.ts';
import { errorOf } from '../api.ts';
import { type Answer, call, newCaller, openService } from '../service.ts';
import { dumpOf } from '../table-dump.ts';

const path = '/api/kanban-tasks';

/** Creates endpoints whose table throttles all commands that match, and a caller. */
async function createThrottled(throttled: RegExp) {
  const { app, table, tableName, endpoint } = await openService();
  const { organization, token } = await newCaller(app);
  const waits: number[] = [];
  const sleep = async (milliseconds: number) => {
    waits.push(milliseconds);
  };
  const busy = { ...openTable(tableName, endpoint), sleep };
  busy.client.middlewareStack.add(
    (next, { commandName = '' }) =>
      async (sent) => {
        if (throttled.test(commandName)) throw new ThrottlingException({ message: 'Rate exceeded', $metadata: {} });
        return next(sent);
      },
    { step: 'initialize', priority: 'high' },
  );
  const context = { ...app, table: busy };
  const open = () => context;
  return {
    token,
    waits,
    dump: () => dumpOf(table, organization),
    create: serve(
      rows.createTask,
      ({ body, caller, recordResponse }) => createTask(context, caller.organization, body, recordResponse),
      open,
    ),
    get: serve(rows.getTask, ({ params, caller }) => getTask(context, caller.organization, params.id), open),
    list: serve(
      rows.listTasks,
      ({ query: { limit, offset }, caller }) => listTasks(context, caller.organization, {}, { limit, offset }),
      open,
    ),
  };
}

function expectUnavailable(answer: Answer): void {
  expect([answer.status, errorOf(answer)?.code]).toEqual([503, 'unavailable']);
  expect(answer.headers['Retry-After']).toMatch(/^[1-9]\d*$/);
  expect(JSON.stringify(answer)).not.toMatch(/Throttl|Rate exceeded/);
}

it('a create that is throttled eight times gets 503 unavailable with Retry-After, and nothing is written', async () => {
  const { create, token, waits, dump } = await createThrottled(/^TransactWrite/);
  const before = await dump();
  expectUnavailable(await call(create, { method: 'POST', path, body: { title: 't' }, token }));
  expect(waits).toHaveLength(7);
  expect(await dump()).toEqual(before);
});

it('a request whose token cannot be read gets 503 unavailable with Retry-After', async () => {
  const { list, token } = await createThrottled(/^GetItem/);
  expectUnavailable(await call(list, { path, token }));
});
