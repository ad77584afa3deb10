import { expect, it } from 'vitest';
import type { Event, EventDetail } from '../../../lib/contract/webhooks/event-log.ts';
import type { Webhook } from '../../../lib/contract/webhooks/webhooks.ts';
import { dataOf, errorOf, successOf } from '../../api.ts';
import { startReceiver } from '../../sender/receiver.ts';
import { startDeployment, until } from '../deployment.ts';
import { attemptsOf, createTask, register } from '../requests.ts';

const service = await startDeployment();
const { api } = service;

it('a paused webhook gets nothing and its events are skipped; a resumed one gets what is new', async () => {
  const receiver = await startReceiver();
  const id = await register(service, { url: receiver.url, events: ['task.created'] });
  const params = { id };
  const update = (body: object, headers = {}) => api.updateWebhook({ params, body, headers });
  await createTask(service, 'Before the pause');
  const [{ deliveryId } = expect.fail('no attempt')] = await attemptsOf(service, id, 1);

  const refused = [
    await update({ active: 'no' }),
    await update({ active: false }, { 'If-Match': '"7"' }),
    await api.updateWebhook({ params: { id: `wh_${'0'.repeat(26)}` }, body: { active: false } }),
  ];
  expect(refused.map(({ status }) => status)).toEqual([400, 412, 404]);
  expect(dataOf<Webhook>(await api.getWebhook({ params })).active).toBe(true);

  expect(successOf<Webhook>(await update({ active: false })).active).toBe(false);
  const later = await api.redeliverDelivery({ params: { id, deliveryId } });
  const recovery = { since: new Date(0).toISOString(), include: ['skipped'] };
  const recovered = await api.recoverWebhook({ params, body: recovery });
  for (const answer of [later, recovered])
    expect([answer.status, errorOf(answer)?.code]).toEqual([409, 'webhook_paused']);
  const skipped = await createTask(service, 'During the pause');
  const eventOf = async (task: string) =>
    dataOf<Event[]>(await api.listEvents({ query: `task_id=${task}` })).map(({ id }) => id)[0];
  const eventId = (await until('the event is in the log', () => eventOf(skipped))) as string;

  expect(successOf<Webhook>(await update({ active: true })).active).toBe(true);
  await createTask(service, 'After the pause');
  await attemptsOf(service, id, 2);
  expect(receiver.received.map(({ body }) => body.data.task.title)).toEqual(['Before the pause', 'After the pause']);
  const { deliveries } = dataOf<EventDetail>(await api.getEvent({ params: { id: eventId } }));
  expect(deliveries).toMatchObject([{ webhookId: id, state: 'skipped', attempts: 0 }]);
  const counted = await api.recoverWebhook({ params, body: { ...recovery, dryRun: true } });
  expect(dataOf(counted)).toMatchObject({ matched: 1, matchedByKind: { skipped: 1 } });
});
