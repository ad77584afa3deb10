import { expect, it } from 'vitest';
import { startReceiver } from '../receiving-webhooks/receiver-program.ts';
import { describeReceiver, postTo } from './example-receivers.ts';
import { delivery } from './posted.ts';

/**
 * Serves the route handler on a real socket. Next.js and its packages take more than 300 MB, so they are not installed: it
 * also calls the handler with a Web `Request`, and sends its `Response`.
 */
const server = `
  import { serve } from '@hono/node-server';
  import { POST } from './docs/examples/next-receiver.ts';
  serve({ fetch: POST, port: 0, hostname: '127.0.0.1' }, ({ port }) =>
    console.log('listening on http://127.0.0.1:' + port + '/crewboard'));
`;
const start = (secret: string) =>
  startReceiver([process.execPath, '--input-type=module', '--eval', server], { WEBHOOK_SECRET: secret });

describeReceiver('Next.js', { start, accepted: 204 }, ({ post, printed }) => {
  it.each([
    ['agent.failed', 'sample-agent failed: The model did not answer.'],
    ['task.created', 'nothing to do for task.created'],
  ] as const)('works by the event: %s', async (event, line) => {
    expect(await post(delivery({ event }))).toBe(204);
    expect(await printed()).toContain(line);
  });

  it('fails without a secret, so that deliveries are retried', async () => {
    const withoutSecret = start('');
    const url = (await withoutSecret.line('listening on ')).replace('listening on ', '');
    expect(await postTo(url, delivery())).toBe(500);
    await withoutSecret.stop();
  });
});
