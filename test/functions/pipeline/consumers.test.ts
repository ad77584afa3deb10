import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { loadHandler } from '../../../infra/local/functions.ts';
import { type Consumer, consumers } from '../../../lib/contract/consumers.ts';
import { queues } from '../../../lib/contract/deployment.ts';
import { fileNameOf } from '../../../lib/contract/endpoints.ts';

const rows = Object.entries(consumers as Record<string, Consumer>);

describe('the consumers', () => {
  it.each(rows)('%s has a file whose handler can be called', async (name) => {
    expect(await loadHandler('pipeline', fileNameOf(name))).toBeTypeOf('function');
  });

  it('are all that the folder has', () => {
    const files = readdirSync(new URL('../../../functions/pipeline', import.meta.url));
    expect(files.sort()).toEqual(rows.map(([name]) => `${fileNameOf(name)}.ts`).sort());
  });

  it.each(rows)('%s is fed by something that the deployment has', (_, { source, batchSize, concurrency }) => {
    if ('queue' in source) expect(Object.keys(queues)).toContain(source.queue);
    expect(batchSize).toBeGreaterThan(0);
    expect(concurrency).toBeGreaterThan(0);
  });

  it('hide a message for longer than its function may work on it', () => {
    for (const [, { source, timeoutSeconds }] of rows)
      if ('queue' in source) expect(queues[source.queue].visibilitySeconds).toBeGreaterThanOrEqual(6 * timeoutSeconds);
  });
});
