import { describe, expect, it } from 'vitest';
import type { Log } from '../../../lib/context/log.ts';
import { scopes } from '../../../lib/contract/endpoint.ts';
import { listTasks } from '../../../lib/contract/tasks/tasks.ts';
import { issueToken } from '../../../lib/http/issue-token.ts';
import { serve } from '../../../lib/http/serve.ts';
import { hashSecret, mintToken, readToken, writeToken } from '../../../lib/http/token.ts';
import { readTokenUses } from '../../../lib/table/organizations/token-uses.ts';
import { insertToken } from '../../../lib/table/organizations/token-writes.ts';
import { revokeStoredToken } from '../../../lib/table/organizations/tokens.ts';
import { errorOf } from '../../api.ts';
import { call, clockAt, newCaller, openService } from '../../service.ts';
import { interceptTable } from '../../table/fixtures/intercepted-table.ts';

const start = Date.parse('2026-03-01T12:00:00.000Z');
const hourMs = 60 * 60 * 1000;
const at = (milliseconds: number) => new Date(start + milliseconds).toISOString();

/** Creates an endpoint with a scope that records its reads and writes of the table, as one process of a service. */
async function createGuarded({
  clock = clockAt(start),
  service = openService(clock),
  before = (_command: string) => {},
} = {}) {
  const { app: opened, table: inProcess } = await service;
  const app = { ...opened, cachedTokens: new Map() };
  const reads: string[] = [];
  const writes: string[] = [];
  const table = interceptTable(inProcess, (carryOut, { constructor: { name } }) => {
    (name.startsWith('Get') ? reads : writes).push(name);
    before(name);
    return carryOut();
  });
  const warnings: string[] = [];
  const log: Log = { info() {}, error() {}, warn: (message) => void warnings.push(message) };
  const guardedApp = { ...app, table, log };
  const handler = serve(
    listTasks,
    async () => ({ items: [], total: 0 }),
    () => guardedApp,
  );
  const send = (headers: Record<string, string>) => call(handler, { path: '/api/kanban-tasks', headers });
  return {
    app,
    clock,
    table,
    warnings,
    reads,
    writes,
    send,
    sendToken: (token: string) => send({ Authorization: `Bearer ${token}` }),
  };
}

const tokenIdOf = (token: string) => readToken(token)?.id as string;

const { app, send, sendToken, reads } = await createGuarded();
const { organization, token } = await newCaller(app);
const { id, secret } = readToken(token) as { id: string; secret: string };

describe('a request gets 401 unauthorized', () => {
  it.each([
    ['without Authorization', {}],
    ['with an empty Authorization', { Authorization: '' }],
    ['with a bare Bearer', { Authorization: 'Bearer' }],
    ['with the token alone', { Authorization: token }],
    ['with the Basic scheme', { Authorization: `Basic ${token}` }],
    ['with two tokens', { Authorization: `Bearer ${token} ${token}` }],
    ['with two headers, which API Gateway joins', { Authorization: `Bearer ${token},Bearer ${token}` }],
    ['with a wrong checksum', { Authorization: `Bearer ${token.slice(0, -6)}000000` }],
    ['with 10 KB', { Authorization: `Bearer crew_${'a'.repeat(10_240)}` }],
  ] as [string, Record<string, string>][])('%s, without a read', async (_, headers) => {
    reads.length = 0;
    const answer = await send(headers);
    expect([answer.status, errorOf(answer).code]).toEqual([401, 'unauthorized']);
    expect(answer.headers['WWW-Authenticate']).toBe('Bearer');
    expect(reads).toEqual([]);
  });

  it('with the same message for an unknown, expired or revoked token, and others if it is absent or malformed', async () => {
    const revoked = await newCaller(app);
    await revokeStoredToken(app, readToken(revoked.token)?.id as string, at(0));
    const expired = await issueToken(app, { organization, scopes, expires: at(0) });
    const kinds = {
      'has no access token': [await send({})],
      'is malformed': [await sendToken('malformed'), await sendToken(`${token.slice(0, -6)}000000`)],
      'is not valid': [
        await sendToken(writeToken(mintToken())),
        await sendToken(writeToken({ id, secret: mintToken().secret })),
        await sendToken(expired),
        await sendToken(revoked.token),
      ],
    };
    for (const [words, responses] of Object.entries(kinds))
      for (const answer of responses) {
        expect([answer.status, errorOf(answer).code]).toEqual([401, 'unauthorized']);
        expect(answer.headers['WWW-Authenticate']).toBe('Bearer');
        expect(errorOf(answer).message).toContain(words);
        expect(errorOf(answer)).not.toHaveProperty('details');
      }
  });

  it('with a wrong secret for a cached token', async () => {
    expect((await sendToken(token)).status).toBe(200);
    expect((await sendToken(writeToken({ id, secret: `${secret.slice(0, -1)}-` }))).status).toBe(401);
    expect((await sendToken(writeToken({ id, secret: mintToken().secret }))).status).toBe(401);
  });
});

describe('a request is accepted', () => {
  it.each(['Bearer', 'bearer', 'BEARER'])('with the scheme written %s', async (scheme) => {
    expect((await send({ Authorization: `${scheme} ${token}` })).status).toBe(200);
  });

  it('with a token that was invalid before it was created', async () => {
    const minted = mintToken();
    expect((await sendToken(writeToken(minted))).status).toBe(401);
    const stored = { ...minted, hash: hashSecret(minted.secret), organization, scopes: [...scopes], createdAt: at(0) };
    await insertToken(app.table, stored);
    expect((await sendToken(writeToken(minted))).status).toBe(200);
  });
});

// test/http/every-endpoint.test.ts sends requests with each scope, and without it.
it('a token without scopes leads to 403, without WWW-Authenticate', async () => {
  const answer = await sendToken((await newCaller(app, [])).token);
  expect(answer.status).toBe(403);
  expect(answer.headers).not.toHaveProperty('WWW-Authenticate');
});

describe('a cached token', () => {
  it('is read again after 30 seconds, so that it is rejected at most 30 seconds after its revocation', async () => {
    const guarded = await createGuarded();
    const caller = await newCaller(guarded.app);
    expect((await guarded.sendToken(caller.token)).status).toBe(200);
    await revokeStoredToken(guarded.app, readToken(caller.token)?.id as string, at(0));
    for (const [later, status, reads] of [
      [0, 200, 1],
      [29_999, 200, 1],
      [30_000, 401, 2],
    ] as const) {
      guarded.clock.now = start + later;
      expect([(await guarded.sendToken(caller.token)).status, guarded.reads.length]).toEqual([status, reads]);
    }
  });

  it('is read again after a step back of the clock, which would cache it for longer', async () => {
    const guarded = await createGuarded();
    const caller = await newCaller(guarded.app);
    await guarded.sendToken(caller.token);
    await revokeStoredToken(guarded.app, readToken(caller.token)?.id as string, at(0));
    guarded.clock.now -= hourMs;
    expect((await guarded.sendToken(caller.token)).status).toBe(401);
  });

  it('is rejected from its time of expiry on', async () => {
    const guarded = await createGuarded();
    const expired = await issueToken(guarded.app, { organization, scopes, expires: at(10_000) });
    guarded.clock.now = start + 9_999;
    expect((await guarded.sendToken(expired)).status).toBe(200);
    guarded.clock.now = start + 10_000;
    expect((await guarded.sendToken(expired)).status).toBe(401);
  });

  it('is one of 1,000, and the 1,001st replaces the oldest', async () => {
    const guarded = await createGuarded();
    const oldest = await newCaller(guarded.app);
    await guarded.sendToken(oldest.token);
    const [cached] = guarded.app.cachedTokens.values();
    if (!cached) throw new Error('The token is not cached.');
    for (let nth = 2; nth < 1_000; nth++) guarded.app.cachedTokens.set(`${nth}`, cached);
    for (const reads of [2, 4]) {
      await guarded.sendToken((await newCaller(guarded.app)).token);
      await guarded.sendToken(oldest.token);
      expect(guarded.reads).toHaveLength(reads);
    }
  });
});

describe('the use of a token', () => {
  it('is noted at most once an hour by all processes together', async () => {
    const clock = clockAt(start);
    const service = openService(clock);
    const [one, other] = [await createGuarded({ clock, service }), await createGuarded({ clock, service })];
    const caller = await newCaller(one.app);
    const lastUse = async () => (await readTokenUses(one.app, caller.organization)).get(tokenIdOf(caller.token));
    expect(await lastUse()).toBeUndefined();

    for (const later of [0, 10_000, hourMs / 2, hourMs - 1]) {
      clock.now = start + later;
      for (const { sendToken } of [one, other]) expect((await sendToken(caller.token)).status).toBe(200);
      expect(await lastUse()).toBe(at(0));
    }
    // The second process learned of the noted use by a write that changed nothing.
    expect([one.writes.length, other.writes.length]).toEqual([1, 1]);

    clock.now = start + hourMs;
    for (const { sendToken } of [other, one]) await sendToken(caller.token);
    expect(await lastUse()).toBe(at(hourMs));
  });

  it('in the future, of a clock that was ahead, is replaced by the next use', async () => {
    const { app, clock, sendToken, writes } = await createGuarded({ clock: clockAt(start + 2 * hourMs) });
    const caller = await newCaller(app);
    await sendToken(caller.token);
    clock.now = start;
    for (let times = 0; times < 3; times++) await sendToken(caller.token);
    expect((await readTokenUses(app, caller.organization)).get(tokenIdOf(caller.token))).toBe(at(0));
    expect(writes).toHaveLength(2);
  });

  it('that cannot be noted is logged, tried again after 30 seconds, and the request succeeds', async () => {
    let failing = false;
    const { app, clock, sendToken, warnings } = await createGuarded({
      before: (name) => {
        if (failing && name === 'UpdateCommand') throw new Error('The table does not take writes.');
      },
    });
    const caller = await newCaller(app);
    failing = true;
    for (const later of [0, 29_999]) {
      clock.now = start + later;
      expect((await sendToken(caller.token)).status).toBe(200);
    }
    expect(warnings).toEqual(['the use of a token was not noted']);
    failing = false;
    clock.now = start + 30_000;
    await sendToken(caller.token);
    expect((await readTokenUses(app, caller.organization)).get(tokenIdOf(caller.token))).toBe(at(30_000));
  });

  it('is not noted for a token that is rejected', async () => {
    const guarded = await createGuarded();
    const { token, organization } = await newCaller(guarded.app);
    const wrong = writeToken({ id: tokenIdOf(token), secret: mintToken().secret });
    expect((await guarded.sendToken(wrong)).status).toBe(401);
    expect(guarded.writes).toEqual([]);
    expect(await readTokenUses(guarded.app, organization)).toEqual(new Map());
  });
});
