import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { loadHandler } from '../../../infra/local/functions.ts';
import { fileNameOf } from '../../../lib/contract/routes.ts';
import { type Consumer, consumers } from '../../../lib/names/consumers.ts';
import { queues } from '../../../lib/names/queues.ts';

const rows = Object.entries(consumers as Record<string, Consumer>);
const sources = rows.flatMap(([name, { sources, timeoutSeconds }]) =>
  sources.map((source) => ({ name, source, timeoutSeconds })),
);
const fed = sources.flatMap(({ source }) => ('queue' in source ? [source.queue] : []));

describe('the consumers', () => {
  it.each(rows)('%s has a file whose handler can be called', async (name) => {
    expect(await loadHandler('pipeline', fileNameOf(name))).toBeTypeOf('function');
  });

  it('are all that the folder has', () => {
    const files = readdirSync(new URL('../../../functions/pipeline', import.meta.url));
    expect(files.sort()).toEqual(rows.map(([name]) => `${fileNameOf(name)}.ts`).sort());
  });

  it('take from each queue once, but not what waits for an operator', () => {
    expect([...fed, 'deadLetters'].sort()).toEqual(Object.keys(queues).sort());
  });

  it('hide a message for longer than its function may work on it', () => {
    for (const { source, timeoutSeconds } of sources)
      if ('queue' in source) expect(queues[source.queue].visibilitySeconds).toBeGreaterThanOrEqual(6 * timeoutSeconds);
  });
});
