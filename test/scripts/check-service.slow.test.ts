import { expect, it } from 'vitest';
import { checkService } from '../../scripts/check-service.ts';
import { startDeployment } from '../journeys/deployment.ts';
import { startReceiver } from '../sender/receiver.ts';

const { url, token, api } = await startDeployment();

async function check(more: object = {}) {
  const said: string[] = [];
  const failure = await checkService({ url, token, ...more }, (line) => said.push(line)).catch(
    (error: Error) => error.message,
  );
  return { said, failure };
}

const webhooks = async () => (await api.listWebhooks({})).body;

it('the check of a service passes if its health, a read and a signed delivery are right, and leaves no webhook', async () => {
  expect(await check()).toEqual({
    said: [
      'The health check responds 200.',
      'The access token is that of the organization local.',
      'A receiver on this machine verified the signature of a delivery.',
    ],
    failure: undefined,
  });
  expect(await webhooks()).toMatchObject({ data: [] });
});

it('the check of a service fails at a token that is not valid', async () => {
  const { said, failure } = await check({ token: `${token.slice(0, -1)}-` });
  expect([said.length, failure]).toEqual([1, expect.stringMatching(/access token/)]);
});

it('the check of a service fails if the receiver does not accept the delivery, and leaves no webhook', async () => {
  const receiver = await startReceiver((response) => response.writeHead(401).end());
  const { said, failure } = await check({ receiver: { url: receiver.url, secret: 'a secret of the receiver' } });
  expect([said.length, failure]).toEqual([2, expect.stringMatching(/^The delivery to .* got the status 401: /)]);
  expect(await webhooks()).toMatchObject({ data: [] });
});

it('the check of a service fails if nothing answers at its URL', async () => {
  const { said, failure } = await check({ url: `${url}/nowhere` });
  expect([said, failure]).toEqual([[], expect.stringMatching(/health responds 404 instead of 200\.$/)]);
});
