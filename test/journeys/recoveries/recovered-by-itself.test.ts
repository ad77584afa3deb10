import { expect, it } from 'vitest';
import type { Webhook } from '../../../lib/contract/webhooks/webhooks.ts';
import { successOf } from '../../api.ts';
import { startWithClock } from '../clock.ts';
import { createTask, register } from '../requests.ts';
import { startUnreliable } from '../unreliable-receiver.ts';
import { announced, distinct, miss, recoveriesOf } from './missed.ts';

const { service, setClock } = await startWithClock();
const { api } = service;
const webhook = { events: ['task.created'], autoRecover: true };

it('after an outage, a webhook with autoRecover gets what it missed without a request', async () => {
  const receiver = await startUnreliable();
  const id = await register(service, { url: receiver.url, ...webhook });
  await miss(service, receiver, ['One', 'Two', 'Three']);
  await announced(service, id, 'webhook.failing');
  await setClock(31_000);
  receiver.state.isDown = false;
  await createTask(service, 'Four');
  await receiver.next(7);
  expect(distinct(receiver.titlesAfter(3))).toEqual(['Four', 'One', 'Three', 'Two']);
  expect(await recoveriesOf(service, id)).toMatchObject([
    { auto: true, include: ['exhausted', 'skipped', 'retrying'] },
  ]);
});

it('when it is resumed, a webhook with autoRecover gets the events of the pause without a request', async () => {
  const receiver = await startUnreliable();
  receiver.state.isDown = false;
  const id = await register(service, { url: receiver.url, ...webhook });
  const setActive = async (active: boolean) =>
    successOf<Webhook>(await api.updateWebhook({ params: { id }, body: { active } }));
  await setActive(false);
  for (const title of ['One', 'Two', 'Three']) await createTask(service, title);
  expect(await setActive(true)).toMatchObject({ active: true, autoRecover: true });
  await receiver.next(3);
  expect(distinct(receiver.titlesAfter(0))).toEqual(['One', 'Three', 'Two']);
  expect(await recoveriesOf(service, id)).toMatchObject([{ auto: true, matched: 3 }]);
});
