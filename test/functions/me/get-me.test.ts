import { describe, expect, it } from 'vitest';
import { processContext } from '../../../lib/context/context.ts';
import type { Me } from '../../../lib/contract/me.ts';
import { issueToken, type TokenRequest } from '../../../lib/http/issue-token.ts';
import { readToken } from '../../../lib/http/token.ts';
import { setAnsweringModel, simulatorName } from '../../../lib/model/answering-model.ts';
import { changeSettings } from '../../../lib/table/organizations/settings.ts';
import { readStoredToken, revokeStoredToken } from '../../../lib/table/organizations/tokens.ts';
import { dataOf } from '../../api.ts';
import { meter } from '../../table/fixtures/capacity.ts';
import { createTaskCallers } from '../kanban-tasks/task-caller.ts';

const { newTaskCaller } = await createTaskCallers();
const caller = await newTaskCaller();
const { organization } = caller;

const idOf = (token: string) => readToken(token)?.id as string;

/** Creates another token of the organization. */
const newToken = (fields: Pick<TokenRequest, 'name' | 'scopes'>) =>
  issueToken(processContext(), { organization, ...fields });

describe('a token', () => {
  it('gets its organization, its id, name and time of creation, and its scopes', async () => {
    const token = await newToken({ name: 'console', scopes: ['webhooks:read', 'tasks:read'] });
    const answer = await caller.getMe({ token });
    const { createdAt } = (await readStoredToken(processContext(), idOf(token))) ?? {};
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        success: true,
        data: {
          organization,
          token: { id: idOf(token), name: 'console', createdAt },
          scopes: ['webhooks:read', 'tasks:read'],
          simulatedModel: false,
        },
      },
    ]);
    expect(answer.headers).not.toHaveProperty('ETag');
    expect(JSON.stringify(answer.body)).not.toContain(token.slice('crew_'.length + 12, -6));
  });

  it('without a name and scopes gets no name and an empty list', async () => {
    const token = await newToken({ scopes: [] });
    const { token: shown, scopes } = dataOf<Me>(await caller.getMe({ token }));
    expect(Object.keys(shown)).toEqual(['id', 'createdAt']);
    expect([shown.id, scopes]).toEqual([idOf(token), []]);
  });

  it('of another organization gets that organization', async () => {
    const other = await newTaskCaller();
    expect(dataOf<Me>(await caller.getMe({ token: other.token })).organization).toBe(other.organization);
  });

  it('learns whether the simulator answers for agents', async () => {
    setAnsweringModel(simulatorName);
    expect(dataOf<Me>(await caller.getMe()).simulatedModel).toBe(true);
    setAnsweringModel(undefined);
    expect(dataOf<Me>(await caller.getMe()).simulatedModel).toBe(false);
  });

  it('that was used before causes no request to the table', async () => {
    const { table } = processContext();
    await caller.getMe();
    expect(await meter(table).costOf(() => caller.getMe())).toMatchObject({ requests: 0, rcu: 0, wcu: 0 });
  });
});

// test/http/every-endpoint.test.ts sends requests without a token.
it('responds with 401 unauthorized to a revoked token', async () => {
  const token = await newToken({ scopes: ['tasks:read'] });
  await revokeStoredToken(processContext(), idOf(token), '2026-03-01T12:00:00.000Z');
  await caller.refuses(() => caller.getMe({ token }), 401, 'unauthorized');
});

it('responds with 429 rate_limited above the limit of the organization', async () => {
  const limited = await newTaskCaller();
  await changeSettings(processContext(), limited.organization, { requestsPerMinute: 1 });
  const { status, headers } = await limited.getMe();
  expect([status, headers['RateLimit-Policy']]).toEqual([200, '"requests";q=1;w=60']);
  await limited.refuses(() => limited.getMe(), 429, 'rate_limited');
});
