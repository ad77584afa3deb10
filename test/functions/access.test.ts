import { describe, expect, it } from 'vitest';
import { type Scope, scopes } from '../../lib/contract/endpoint.ts';
import { routes } from '../../lib/contract/routes.ts';
import { createTestAgents } from './agents/test-agents.ts';

const { newAgentsApi } = await createTestAgents();

/** A request that fails all checks that follow those of the token and the scope; the first of them is that of the size. */
const invalid = { params: {}, query: 'unknown=1', body: 'x'.repeat(257 * 1024) };

describe.each(routes.filter(([, { scope }]) => scope))('%s', (operation, { scope }) => {
  it('leads to 401 without a token', async () => {
    const api = await newAgentsApi();
    await api.refuses(() => api[operation]({ ...invalid, token: '' }), 401, 'unauthorized');
  });

  it(`leads to 403 without ${scope}, even with all other scopes`, async () => {
    const api = await newAgentsApi(scopes.filter((one) => one !== scope));
    const { message } = await api.refuses(() => api[operation](invalid), 403, 'insufficient_scope');
    expect(message).toContain(scope);
  });

  it(`requires no scope but ${scope}`, async () => {
    const api = await newAgentsApi([scope as Scope]);
    await api.refuses(() => api[operation](invalid), 413, 'payload_too_large');
  });
});
