import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { withProgress } from '../../../infra/cli/progress.ts';

// The tests may run in an environment where no line is rewritten.
beforeEach(() => {
  vi.stubEnv('CI', undefined);
  vi.stubEnv('TERM', 'xterm');
});
afterEach(() => vi.unstubAllEnvs());

/** Creates a stream, a terminal or not, that records the written text. */
function screen(isTTY: boolean, columns = 80) {
  const clearLine = vi.fn(() => {
    if (clearLine.mock.calls.length > 1000) throw new Error('It clears lines without end.');
  });
  const controls = { clearLine, cursorTo: vi.fn(), moveCursor: vi.fn() };
  const stream = Object.assign(new PassThrough(), { isTTY, columns, ...controls });
  let text = '';
  stream.setEncoding('utf8').on('data', (part: string) => {
    text += part;
  });
  const clock = Object.assign(() => clock.now, { now: 0 });
  return { stream: stream as unknown as NodeJS.WriteStream, clock, controls, written: () => text };
}

it.each([
  ['without a terminal', false, 80],
  ['on a terminal without columns', true, 0],
])('writes a line every ten seconds %s, and nothing before that', async (_, isTTY, width) => {
  const { stream, clock, written } = screen(isTTY, width);
  const done = await withProgress(
    'Started',
    async (report) => {
      for (let count = 1; count <= 25; count++) {
        clock.now += 1000;
        report(`${count} done`);
      }
      return 'all';
    },
    { stream, clock },
  );
  expect([done, written()]).toEqual(['all', '10 done\n20 done\n']);
});

it('rewrites one line of a terminal, and removes it at the end', async () => {
  const { stream, clock, controls, written } = screen(true);
  let seen = '';
  await withProgress(
    'Started',
    async (report) => {
      report('1 done');
      await vi.waitFor(() => expect(written()).toContain('1 done'));
      seen = written();
      controls.clearLine.mockClear();
    },
    { stream, clock },
  );
  expect(seen).toContain('Started');
  expect(seen).not.toContain('\n1 done');
  expect(controls.clearLine).toHaveBeenCalled();
});

it('removes the line if the work fails, and throws its error', async () => {
  const { stream, clock, controls, written } = screen(true);
  const failing = withProgress('Started', () => Promise.reject(new Error('No.')), { stream, clock });
  await expect(failing).rejects.toThrow('No.');
  expect(controls.clearLine).toHaveBeenCalled();
  // The hidden cursor is visible again.
  expect(written().endsWith('\u001B[?25h')).toBe(true);
});
