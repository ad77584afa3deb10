import { afterEach, expect, it, vi } from 'vitest';
import { operatorErrorText } from '../../../infra/cli/operator-errors.ts';
import { runProgram } from '../../../infra/cli/run-program.ts';
import { runWithRequest } from '../../../lib/table/access/current-request.ts';
import { transact } from '../../../lib/table/access/transact.ts';
import { unavailable } from '../../../lib/table/access/unavailable.ts';
import { mockTable } from '../../table/fixtures/mock-table.ts';

afterEach(() => {
  vi.restoreAllMocks();
  process.exitCode = 0;
});

async function printed(act: () => Promise<unknown>): Promise<unknown> {
  const print = vi.spyOn(console, 'error').mockImplementation(() => {});
  await runWithRequest({}, () => runProgram({ parseAsync: act }, operatorErrorText));
  expect(process.exitCode).toBe(1);
  return print.mock.lastCall?.[0];
}

it('a command that cannot reach the table says what to check', async () => {
  const cause = Object.assign(new Error('connect'), { code: 'ECONNREFUSED', $metadata: { attempts: 3 } });
  const text = await printed(() => Promise.reject(unavailable(cause)));
  expect(text).toMatch(/^AWS: AWS cannot be reached \(connect\)/);
});

it('a command that fails before its first write says that nothing was changed, and one that fails later does not', async () => {
  const { table } = mockTable();
  const fail = async () => {
    throw unavailable();
  };
  expect(await printed(fail)).toMatch(/nothing was changed/);
  const write = () => transact(table, [{ Put: { Item: { pk: 'p', sk: 's' } } }]).then(fail);
  expect(await printed(write)).toMatch(/it is not known whether/);
});
