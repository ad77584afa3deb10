import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { followExecution } from '../../../../../infra/cli/api/executions/follow.ts';
import type { Client } from '../../../../../lib/client/client.ts';
import type { Execution } from '../../../../../lib/client/operations.ts';

// The tests may run in an environment where no line is rewritten.
beforeEach(() => {
  vi.stubEnv('CI', undefined);
  vi.stubEnv('TERM', 'xterm');
});
afterEach(() => vi.unstubAllEnvs());

/** Follows an execution that has these statuses in turn, and returns what is written to a stream. */
async function follow(isTTY: boolean, ...statuses: Execution['status'][]) {
  const controls = { clearLine: vi.fn(), cursorTo: vi.fn(), moveCursor: vi.fn() };
  const stream = Object.assign(new PassThrough(), { isTTY, columns: 80, ...controls });
  const written: string[] = [];
  stream.setEncoding('utf8').on('data', (part: string) => void written.push(part));
  const getExecution: Client['getExecution'] = async ({ params: { name: agentName, id } }) => {
    const fields = { startedAt: new Date().toISOString(), input: '', model: 'simulator' };
    const qualityGates = { selfTest: 'pending', qaReview: 'pending' } as const;
    const data = { id, agentName, status: statuses.shift() as Execution['status'], qualityGates, ...fields };
    return { data, pagination: undefined, etag: undefined, replayed: false, requestId: undefined };
  };
  const one = { name: 'builder', id: 'ex_1' };
  const ended = await followExecution({ getExecution }, one, stream as unknown as NodeJS.WriteStream);
  return { ended, written: written.join(''), ...controls };
}

it('updates one line of a terminal, and removes it at the end', async () => {
  const { ended, written, clearLine } = await follow(true, 'running', 'completed');
  expect(ended.status).toBe('completed');
  expect(written).toContain('builder ex_1 running, ');
  expect(written).not.toContain('running\n');
  expect(clearLine).toHaveBeenCalled();
  // The hidden cursor is visible again.
  expect(written.endsWith('\u001B[?25h')).toBe(true);
});

it('writes a line without a terminal while the execution runs', async () => {
  const { ended, written } = await follow(false, 'running', 'failed');
  expect([ended.status, written]).toEqual(['failed', 'builder ex_1 running\n']);
});

it('writes nothing about an execution that has ended before', async () => {
  expect((await follow(false, 'completed')).written).toBe('');
});
