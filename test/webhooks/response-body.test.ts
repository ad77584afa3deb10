import { expect, it } from 'vitest';
import { readAllowedReceivers } from '../../lib/webhooks/allowed-receivers.ts';
import { startReceiver } from './receiver.ts';
import { createTestSender } from './test-sender.ts';

const send = createTestSender(readAllowedReceivers('127.0.0.1:*'));

it('is not cut inside a character either where exactly 16 KiB of a longer body have come', async () => {
  const start = Buffer.from(`a${'é'.repeat(8_192)}`).subarray(0, 16 * 1024);
  const { url } = await startReceiver((response) => {
    response.writeHead(200, { 'Content-Length': 100_000 }).write(start);
  });
  const { responseBody } = await send({ url, headers: {}, body: '{}' });
  expect(responseBody.slice(-2)).toBe('éé');
  expect(responseBody).toHaveLength(8_192);
});
