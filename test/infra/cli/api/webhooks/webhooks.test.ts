import { expect, it, vi } from 'vitest';
import { startDeployment } from '../../../../journeys/deployment.ts';
import { createTask } from '../../../../journeys/requests.ts';
import { startReceiver } from '../../../../sender/receiver.ts';
import { commandsOf, crewboard, onTerminal } from '../crewboard.ts';

const service = await startDeployment();
const { run, output, json, messageOf } = commandsOf(service);

const time = String.raw`\d{4}-\d\d-\d\dT[\d:.]+Z`;
const absent = 'wh_01K00000000000000000000000';
const noDelivery = 'dlv_01K00000000000000000000000';

/** Registers a webhook without a secret, and returns its id. */
async function add(url: string, ...options: string[]): Promise<string> {
  return (await run('webhooks', 'add', url, ...options)).stdout.trim();
}

it('shows a webhook with its state, and the attempts of each hour', async () => {
  const receiver = await startReceiver();
  const id = await add(receiver.url, '--events', 'task.created', '--project', 'proj_a', '--secret', 'a-long-secret');
  await output('webhooks', 'test', id);
  const shown = await output('webhooks', 'show', id, '--hours');
  expect(shown).toMatch(new RegExp(`^id +${id}\nurl +${receiver.url}\nevents +task\\.created\nproject +proj_a\n`));
  expect(shown).toMatch(
    new RegExp(`^active +yes\nsigned +yes, with the secret of ${time}\nlast delivery +${time}\n`, 'm'),
  );
  expect(shown).toMatch(new RegExp(`\n\nhour +2xx +3xx +4xx +5xx +no response\n(${time} .*\n){24}24 hours\\.$`));
  expect(shown).not.toContain('a-long-secret');
  await output('webhooks', 'pause', id);
  expect(await output('webhooks', 'show', id)).toMatch(/^active +no$/m);
  const { data } = await json('webhooks', 'show', id);
  expect(data).toMatchObject({ id, active: false, signed: true });
  expect(data).not.toHaveProperty('hours');
  expect(await messageOf('webhooks', 'show', absent)).toMatch(/no such webhook/);
});

it('deletes a webhook after a question that names its receiver', async () => {
  const id = await add('http://127.0.0.1:8099/hook');
  const { code, stderr } = await onTerminal('n\n', () => run('webhooks', 'delete', id));
  expect([code, stderr]).toEqual([
    1,
    expect.stringContaining(`Delete the webhook ${id} to http://127.0.0.1:8099/hook? This cannot be undone. [y/N] `),
  ]);
  expect((await run('webhooks', 'delete', id)).code).toBe(2);
  expect(await output('webhooks', 'delete', id, '--yes')).toBe(`Deleted the webhook ${id}.`);
  const another = await add('http://127.0.0.1:8099/hook');
  expect(await json('webhooks', 'delete', another, '--yes')).toEqual({ data: { id: another } });
  expect(await messageOf('webhooks', 'delete', another, '--yes')).toMatch(/no such webhook/);
});

it('sends a delivery again', async () => {
  const receiver = await startReceiver();
  const id = await add(receiver.url, '--events', 'task.created');
  await createTask(service, 'One');
  const newest = async () => (await json('webhooks', 'events', id)).data[0];
  await expect.poll(async () => (await newest())?.state, { timeout: 10_000 }).toBe('delivered');
  const { deliveryId } = await newest();
  expect(await output('webhooks', 'redeliver', id, deliveryId)).toBe(`${deliveryId} is pending: attempt 2 is due.`);
  await expect.poll(() => receiver.received.length, { timeout: 10_000 }).toBe(2);
  await expect.poll(async () => (await newest()).state, { timeout: 10_000 }).toBe('delivered');
  expect((await json('webhooks', 'redeliver', id, deliveryId)).data).toMatchObject({ deliveryId, attempt: 3 });
  expect(await messageOf('webhooks', 'redeliver', id, noDelivery)).toMatch(/no such delivery/);
});

it('replaces the secret, and prints a new one once', async () => {
  const receiver = await startReceiver();
  const id = await add(receiver.url);
  const first = await run('webhooks', 'rotate-secret', id);
  expect(first).toMatchObject({ code: 0, stderr: 'Deliveries are signed with the new secret.\n' });
  expect(first.stdout).toMatch(/^whsec_[\w+/]{43}=\n$/);
  const second = await run('webhooks', 'rotate-secret', id, '--overlap', '1h');
  expect(second.stdout).not.toBe(first.stdout);
  expect(second.stderr).toMatch(new RegExp(`^Deliveries .* and with the replaced one until ${time}\\.\n$`));
  const { data } = JSON.parse((await run('webhooks', 'rotate-secret', id, '--overlap', '0', '--json')).stdout);
  expect(data).toMatchObject({ id, signed: true, secret: expect.stringMatching(/^whsec_/) });
  expect(await messageOf('webhooks', 'rotate-secret', absent)).toMatch(/no such webhook/);
});

it('does not print a secret that was given', async () => {
  const id = await add('http://127.0.0.1:8099/hook');
  const variables = { CREWBOARD_URL: service.url, CREWBOARD_TOKEN: service.token, WEBHOOK_SECRET: 'a-long-secret' };
  for (const json of [[], ['--json']]) {
    const { code, stdout, stderr } = await crewboard(['webhooks', 'rotate-secret', id, ...json], variables);
    expect(code).toBe(0);
    expect(stdout + stderr).not.toContain('a-long-secret');
  }
  expect((await run('webhooks', 'rotate-secret', id, '--overlap', '8 days')).code).toBe(2);
});

it('takes durations for the times of ranges', async () => {
  const receiver = await startReceiver();
  await createTask(service, 'Missed');
  const id = await add(receiver.url, '--events', 'task.created');
  const recover = ['webhooks', 'recover', id, '--since', '1h', '--include', 'never_sent', '--dry-run'];
  await expect.poll(() => output(...recover)).toMatch(/^[1-9]\d* events? would be sent\./);
  expect(await output('webhooks', 'recover', id, '--since', '2h', '--until', '1h')).toMatch(/^0 events are sent\./);
  await output('webhooks', 'test', id);
  expect(await output('webhooks', 'deliveries', id, '--since', '1m')).toMatch(/\n1 attempt\.$/);
  expect(await output('webhooks', 'deliveries', id, '--until', '1h')).toBe('0 attempts.');
  expect(await output('webhooks', 'events', id, '--since', '1m')).toBe('0 events.');
  const wrong = await run('webhooks', 'recover', id, '--since', '1 hour');
  expect(wrong).toMatchObject({ code: 2, stderr: expect.stringMatching(/ISO 8601 .* Or write how long ago it was/) });
});

it('counts recoveries', async () => {
  const receiver = await startReceiver();
  await createTask(service, 'Missed');
  const id = await add(receiver.url, '--events', 'task.created');
  expect(await output('webhooks', 'recoveries', id)).toBe('0 recoveries.');
  const recover = ['webhooks', 'recover', id, '--since', '1h', '--include', 'never_sent'];
  await vi.waitFor(async () => expect((await run(...recover)).stdout).toMatch(/^recovery +rc_/), 10_000);
  expect(await output('webhooks', 'recoveries', id)).toMatch(/\n1 recovery\.$/);
});

it('lists and shows the events of the log', async () => {
  const receiver = await startReceiver();
  const id = await add(receiver.url, '--events', 'task.created');
  const task = await createTask(service, 'Red\u202E title');
  const listed = () => output('events', 'list', '--task', task, '--since', '1h');
  await expect.poll(listed, { timeout: 10_000 }).toMatch(/1 event\.$/);
  const [heading, first = ''] = (await listed()).split('\n');
  expect(heading).toMatch(/^id +event +occurred +about$/);
  expect(first).toMatch(new RegExp(`^ev_\\w{26}  task\\.created  ${time}  ${task} Red title$`));
  const { data, pagination } = await json('events', 'list', '--event', 'task.created', '--limit', '1');
  expect([data.length, pagination.limit]).toEqual([1, 1]);
  const [eventId = ''] = first.split(' ');
  await expect
    .poll(() => output('events', 'show', eventId), { timeout: 10_000 })
    .toMatch(new RegExp(`^deliveries +${id}  dlv_\\w+  delivered after 1$`, 'm'));
  expect((await json('events', 'show', eventId)).data).toMatchObject({ id: eventId, event: 'task.created' });
  expect(await messageOf('events', 'show', 'ev_01K00000000000000000000000')).toMatch(/no such event/);
  const execution = 'ex_01K00000000000000000000000';
  expect(await output('events', 'list', '--execution', execution)).toBe('0 events.');
});

it('shows the organization and the scopes of the access token', async () => {
  const shown = await output('whoami');
  expect(shown).toMatch(/^organization +local\ntoken +\w{12}\n/);
  expect(shown).toMatch(/^scopes +tasks:read\n +tasks:write\n/m);
  expect(shown).not.toContain(service.token);
  expect((await json('whoami')).data).toMatchObject({
    organization: 'local',
    scopes: expect.arrayContaining(['tasks:read']),
  });
  const unknown = { CREWBOARD_URL: service.url, CREWBOARD_TOKEN: `crew_${'0'.repeat(50)}` };
  expect(await crewboard(['whoami'], unknown)).toMatchObject({ code: 1, stdout: '' });
});
