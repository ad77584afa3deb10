import { Webhook as StandardWebhook } from 'standardwebhooks';
import { expect, it } from 'vitest';
import { verifyWebhook } from '../../../lib/client/verify-webhook.ts';
import { successOf } from '../../api.ts';
import { startReceiver as listen, type Receiver } from '../../sender/receiver.ts';
import { startDeployment } from '../deployment.ts';
import { attemptsOf, createTask, register } from '../requests.ts';

const service = await startDeployment();
const { api } = service;

const before = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const after = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDPmzEFmmjVZo=';

/** Returns whether a request is genuine to a receiver that knows some secrets. */
type Verify = (request: Receiver['received'][number], secrets: readonly string[]) => Promise<boolean>;

const withStandardWebhooks: Verify = async ({ raw, headers }, secrets) =>
  secrets.some((secret) => {
    try {
      return new StandardWebhook(secret).verify(raw.toString('utf8'), headers);
    } catch {
      return false;
    }
  });

const withOurHelper: Verify = ({ raw: body, headers }, secrets) =>
  verifyWebhook({ body, headers, secret: secrets }).then(
    () => true,
    () => false,
  );

/** A receiver: the secrets that it knows, and the ids of the deliveries that it has rejected. */
type Verifier = { secrets: readonly string[]; rejected: string[] };

/** Starts a receiver that verifies each request, and answers 401 if it is not genuine. */
async function startReceiver(verify: Verify, verifier: Verifier): Promise<Receiver> {
  const receiver: Receiver = await listen(async (response) => {
    const request = receiver.received.at(-1) as Receiver['received'][number];
    const isGenuine = await verify(request, verifier.secrets);
    if (!isGenuine) verifier.rejected.push(request.body.deliveryId);
    response.writeHead(isGenuine ? 204 : 401).end();
  });
  return receiver;
}

it.each([
  ['a library of Standard Webhooks', withStandardWebhooks],
  ['our helper', withOurHelper],
])('a receiver with %s rejects no delivery while its secret is rotated under load', async (_, verify) => {
  const known: Verifier = { secrets: [before], rejected: [] };
  const receiver = await startReceiver(verify, known);
  const id = await register(service, { url: receiver.url, events: ['task.created'], secret: before });

  const created: string[] = [];
  const creating = new Set<Promise<void>>();
  let isLoaded = true;
  const load = Array.from({ length: 4 }, async () => {
    while (isLoaded) {
      const creation = createTask(service, 'A task').then((task) => void created.push(task));
      creating.add(creation);
      await creation.finally(() => creating.delete(creation));
    }
  });
  const receivedTasks = () => new Set(receiver.received.map(({ body }) => body.data.task.id));
  /** Waits for the deliveries of all tasks so far, and so for all attempts that have begun. */
  const allSoFar = async (what: string) => {
    await Promise.all(creating);
    const tasks = created.slice();
    await receiver.once(what, () => receivedTasks().isSupersetOf(new Set(tasks)));
  };
  const rotates = ({ headers }: Receiver['received'][number]) => 'x-service-signature-previous' in headers;

  await allSoFar('deliveries before the rotation');
  const rotation = successOf<{ previousSecretEndsAt: string }>(
    await api.rotateWebhookSecret({ params: { id }, body: { secret: after, overlapSeconds: 3600 } }),
  );
  expect(Date.parse(rotation.previousSecretEndsAt)).toBeGreaterThan(Date.now());
  // The receiver still knows the old secret only.
  await receiver.once('deliveries with both signatures', (all) => all.filter(rotates).length >= 10);
  known.secrets = [before, after];
  // The attempts that began before the rotation have no signature of the new secret.
  await allSoFar('deliveries to a receiver with both secrets');
  known.secrets = [after];
  await allSoFar('deliveries to a receiver with the new secret');
  // The new secret stays the current one, and the old one ends.
  successOf(await api.rotateWebhookSecret({ params: { id }, body: { secret: after, overlapSeconds: 0 } }));
  await receiver.once('a delivery after the end of the old secret', (all) => !rotates(all.at(-1) as (typeof all)[0]));
  await allSoFar('deliveries after the rotation');

  isLoaded = false;
  await Promise.all(load);
  await allSoFar('all deliveries');
  const attempts = await attemptsOf(service, id, Math.min(created.length, 100));
  expect(attempts.filter(({ httpStatus }) => httpStatus !== 204)).toEqual([]);
  // No delivery was rejected, so none was sent again.
  expect(known.rejected).toEqual([]);
  expect(receivedTasks().size).toBe(created.length);
});
