import { describe, expect, it } from 'vitest';
import { type Scope, scopes } from '../../../lib/contract/endpoint.ts';
import type { Organization } from '../../../lib/contract/organization.ts';
import { listTasks } from '../../../lib/contract/tasks.ts';
import { issueToken } from '../../../lib/http/issue-token.ts';
import { serve } from '../../../lib/http/serve.ts';
import { hashSecret, mintToken, readToken, writeToken } from '../../../lib/http/token.ts';
import { insertToken } from '../../../lib/table/organizations/token-writes.ts';
import { revokeStoredToken } from '../../../lib/table/organizations/tokens.ts';
import { errorOf } from '../../api.ts';
import { call, clockAt, newCaller, openService } from '../../service.ts';

const start = Date.parse('2026-03-01T12:00:00.000Z');
const at = (milliseconds: number) => new Date(start + milliseconds).toISOString();

/** Creates an endpoint with a scope that records its reads of the table. */
async function createGuarded() {
  const clock = clockAt(start);
  const { app, table } = await openService(clock);
  const reads: string[] = [];
  table.client.middlewareStack.add(
    (next, { commandName = '' }) =>
      (sent) => {
        reads.push(commandName);
        return next(sent);
      },
    { step: 'initialize' },
  );
  const guardedApp = { ...app, table };
  const handler = serve(
    listTasks,
    async () => ({ items: [], total: 0 }),
    () => guardedApp,
  );
  const send = (headers: Record<string, string>) => call(handler, { path: '/api/kanban-tasks', headers });
  return { app, clock, reads, send, sendToken: (token: string) => send({ Authorization: `Bearer ${token}` }) };
}

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

describe('a scope', () => {
  it.each([
    [['tasks:read'], 200],
    [[...scopes], 200],
    [['tasks:write', 'agents:read', 'agents:write', 'agents:execute', 'webhooks:read', 'webhooks:write'], 403],
    [[], 403],
  ] as [Scope[], number][])('list of %j leads to %i for a read of tasks', async (allowed, status) => {
    const caller = await newCaller(app, allowed);
    expect((await sendToken(caller.token)).status).toBe(status);
  });

  it('that is missing is in the message, and there is no WWW-Authenticate', async () => {
    const caller = await newCaller(app, ['tasks:write']);
    const answer = await sendToken(caller.token);
    expect(errorOf(answer).code).toBe('insufficient_scope');
    expect(errorOf(answer).message).toContain('tasks:read');
    expect(answer.headers).not.toHaveProperty('WWW-Authenticate');
  });
});

describe('a cached token', () => {
  it('is not read again for 30 seconds, and then once', async () => {
    const guarded = await createGuarded();
    const caller = await newCaller(guarded.app);
    for (const later of [0, 1, 15_000, 29_999]) {
      guarded.clock.now = start + later;
      expect((await guarded.sendToken(caller.token)).status).toBe(200);
    }
    expect(guarded.reads).toHaveLength(1);
    guarded.clock.now = start + 30_000;
    await guarded.sendToken(caller.token);
    expect(guarded.reads).toHaveLength(2);
  });

  it('is rejected at most 30 seconds after its revocation', async () => {
    const guarded = await createGuarded();
    const caller = await newCaller(guarded.app);
    expect((await guarded.sendToken(caller.token)).status).toBe(200);
    await revokeStoredToken(guarded.app, readToken(caller.token)?.id as string, at(0));
    guarded.clock.now = start + 30_000;
    expect((await guarded.sendToken(caller.token)).status).toBe(401);
  });

  it('is rejected from its time of expiry on', async () => {
    const guarded = await createGuarded();
    const expiring = { organization: 'acme' as Organization, scopes, expires: at(10_000) };
    const expired = await issueToken(guarded.app, expiring);
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
    await guarded.sendToken((await newCaller(guarded.app)).token);
    await guarded.sendToken(oldest.token);
    expect(guarded.reads).toHaveLength(2);
    await guarded.sendToken((await newCaller(guarded.app)).token);
    await guarded.sendToken(oldest.token);
    expect(guarded.reads).toHaveLength(4);
  });
});
