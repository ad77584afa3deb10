import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { Endpoint } from '../../../../lib/contract/endpoint.ts';
import { endpoints } from '../../../../lib/contract/endpoints.ts';
import { requiredScopes } from '../../../../lib/contract/required-scopes.ts';
import { errorOf, statusAndCodeOf, versionOf } from '../../../api.ts';
import type { Answer } from '../../../service.ts';
import { cases, posts } from './cases.ts';
import { createTenants, type Request, start, type Tenant } from './tenant.ts';

const { newTenant } = await createTenants();
const day = 24 * 60 * 60 * 1000;
const key = 'key';
const replayed = ({ headers }: Answer) => headers['Idempotency-Replayed'];

describe.each(posts)('%s with an Idempotency-Key', (operation, one) => {
  let tenant: Tenant;
  let request: Request;
  const send = (changed: Request = {}, by: { key?: string; token?: string } = { key }) =>
    tenant.send(operation, { ...request, ...changed }, by);
  const times = async () => new Set(await one.counts(tenant, request));
  const left = async () => [await tenant.dump(), tenant.posts(), tenant.proposals()];

  async function expectReplay(first: Answer, sent = send()) {
    const again = await sent;
    expect([again.status, again.body, replayed(again)]).toEqual([first.status, first.body, 'true']);
  }

  /** Sends a request that must fail, and checks that nothing has changed. */
  async function refuses(sent: () => Promise<Answer>, code: string) {
    const before = await left();
    const answer = await sent();
    expect(errorOf(answer)?.code).toBe(code);
    expect(answer.headers).not.toHaveProperty('Idempotency-Replayed');
    expect(await left()).toEqual(before);
  }

  beforeEach(async () => {
    tenant = await newTenant();
    request = await one.prepare(tenant);
  });

  it('is carried out once, and duplicates get the same response, with any token of the organization that has the scope', async () => {
    const row: Endpoint = endpoints[operation];
    const { status } = row;
    const first = await send();
    expect([first.status, replayed(first)]).toEqual([status, undefined]);
    expect(await times()).toEqual(new Set([1]));
    const [token, other] = await Promise.all([tenant.tokenOf(requiredScopes(row)), tenant.tokenOf(['tasks:read'])]);
    const before = await left();
    await expectReplay(first);
    await expectReplay(first, send({}, { key, token }));
    expect(statusAndCodeOf(await send({}, { key, token: other }))).toEqual([403, 'insufficient_scope']);
    expect(await left()).toEqual(before);
  });

  it('gets the same response after its resource is deleted, and does not create it again', async () => {
    const first = await send();
    expect((await one.remove(tenant, request, first)).status).toBe(200);
    const before = await left();
    await expectReplay(first);
    expect(await left()).toEqual(before);
  });

  it('leads to 422 idempotency_key_reused for another body or path, and the first request can still be repeated', async () => {
    const otherParams = await one.otherParams?.(tenant, request);
    const other = one.otherBody ? { body: one.otherBody } : otherParams && { params: otherParams };
    const first = await send();
    await refuses(async () => {
      if (otherParams)
        expect(statusAndCodeOf(await send({ params: otherParams }))).toEqual([422, 'idempotency_key_reused']);
      return send(other);
    }, 'idempotency_key_reused');
    await expectReplay(first);
    const answer = await send(other, { key: 'Key' });
    expect([answer.status, replayed(answer)]).toEqual([first.status, undefined]);
  });

  it('has a key that other operations and other organizations can use independently', async () => {
    await send();
    const stranger = await newTenant();
    const elsewhere = operation === 'createTask' ? 'registerWebhook' : 'createTask';
    expect((await stranger.send(elsewhere, await cases[elsewhere].prepare(stranger), { key })).status).toBe(201);
    const theirs = await stranger.send(operation, await one.prepare(stranger), { key });
    expect([theirs.status, replayed(theirs)]).toEqual([endpoints[operation].status, undefined]);
  });

  const { close, refused } = one;
  if (!close || !refused) return;

  it('gets the same response for 24 hours, even if a new request would fail by now', async () => {
    const first = await send();
    await close(tenant, request);
    await refuses(() => send({}, {}), refused);
    const before = await left();
    vi.setSystemTime(start + day - 1_000);
    await expectReplay(first);
    expect(await left()).toEqual(before);
    vi.setSystemTime(start + day);
    expect(errorOf(await send())?.code).toBe(refused);
  });

  it('does not use up the key if it fails: it can be sent again and is then carried out', async () => {
    const reopen = await close(tenant, request);
    await refuses(send, refused);
    await reopen();
    const answer = await send();
    expect([answer.status, replayed(answer)]).toEqual([endpoints[operation].status, undefined]);
    await expectReplay(answer);
  });
});

it.each(['key', 'a b', ''])('the Idempotency-Key %j is ignored by methods other than POST', async (given) => {
  const tenant = await newTenant();
  const params = { id: await tenant.tasks.put() };
  const sent = [
    await tenant.send('getTask', { params }, { key: given }),
    await tenant.send('updateTask', { params, body: { title: 'One' } }, { key: given }),
    await tenant.send('updateTask', { params, body: { title: 'Two' } }, { key: given }),
    await tenant.send('getTask', { params }, { key: given }),
    await tenant.send('deleteTask', { params }, { key: given }),
  ];
  expect(sent.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  expect(sent.map(replayed)).toEqual(Array(5).fill(undefined));
  expect(versionOf(sent[3] as Answer)).toBe(3);
  expect((await tenant.send('deleteTask', { params }, { key: given })).status).toBe(404);
  expect(Object.keys(await tenant.dump()).filter((item) => item.includes('#I#'))).toEqual([]);
});
