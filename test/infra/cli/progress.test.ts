import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { startProgress, withProgress } from '../../../infra/cli/progress.ts';

// The tests may run in an environment where no line is rewritten.
beforeEach(() => {
  vi.stubEnv('CI', undefined);
  vi.stubEnv('TERM', 'xterm');
});
afterEach(() => vi.unstubAllEnvs());

/** Creates a stream, a terminal or not, that records the written text. */
function createScreen(isTTY: boolean, columns = 80) {
  const clearLine = vi.fn(() => {
    if (clearLine.mock.calls.length > 1000) throw new Error('It clears lines without end.');
  });
  const controls = { clearLine, cursorTo: vi.fn(), moveCursor: vi.fn() };
  const stream = Object.assign(new PassThrough(), { isTTY, columns, ...controls });
  const written: string[] = [];
  stream.setEncoding('utf8').on('data', (part: string) => void written.push(part));
  const clock = Object.assign(() => clock.now, { now: 0 });
  const screen = { stream: stream as unknown as NodeJS.WriteStream, clock };
  const terminal = { startProgress: (first: string) => startProgress(first, screen) };
  const progress = <Result>(work: (report: (text: string) => void) => Promise<Result>) =>
    withProgress(terminal, 'Started', work);
  return { progress, clock, clearLine, written: () => written.join('') };
}

it.each([
  ['without a terminal', false, 80],
  ['on a terminal without columns', true, 0],
])('writes a line every ten seconds %s, and nothing before that', async (_, isTTY, width) => {
  const { progress, clock, written } = createScreen(isTTY, width);
  const done = await progress(async (report) => {
    for (let count = 1; count <= 25; count++) {
      clock.now += 1000;
      report(`${count} done`);
    }
    return 'all';
  });
  expect([done, written()]).toEqual(['all', '10 done\n20 done\n']);
});

it('rewrites one line of a terminal, and removes it at the end', async () => {
  const { progress, clearLine, written } = createScreen(true);
  let seen = '';
  await progress(async (report) => {
    report('1 done');
    await vi.waitFor(() => expect(written()).toContain('1 done'));
    seen = written();
    clearLine.mockClear();
  });
  expect(seen).toContain('Started');
  expect(seen).not.toContain('\n1 done');
  expect(clearLine).toHaveBeenCalled();
});

it('removes the line if the work fails, and throws its error', async () => {
  const { progress, clearLine, written } = createScreen(true);
  await expect(progress(() => Promise.reject(new Error('No.')))).rejects.toThrow('No.');
  expect(clearLine).toHaveBeenCalled();
  // The hidden cursor is visible again.
  expect(written().endsWith('\u001B[?25h')).toBe(true);
});
