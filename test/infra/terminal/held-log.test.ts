import { expect, it } from 'vitest';
import { createHeldLog } from '../../../infra/terminal/held-log.ts';
import type { Log } from '../../../lib/context/log.ts';

it('keeps lines until it is released, and writes warnings and errors at once', () => {
  const written: string[] = [];
  const write =
    (level: keyof Log) =>
    (message: string, { job }: Record<string, unknown>) =>
      void written.push(`${level} ${message} ${job}`);
  const log = createHeldLog({ info: write('info'), warn: write('warn'), error: write('error') });
  log.info('scheduled', { job: 1 });
  log.warn('slow', { job: 2 });
  log.error('failed', { job: 3 });
  log.info('scheduled', { job: 4 });
  expect(written).toEqual(['warn slow 2', 'error failed 3']);
  log.release();
  log.info('scheduled', { job: 5 });
  log.release();
  expect(written.slice(2)).toEqual(['info scheduled 1', 'info scheduled 4', 'info scheduled 5']);
});
