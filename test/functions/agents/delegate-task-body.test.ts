import { describe, expect, it } from 'vitest';
import { createTestExecutions, newDelegation } from './test-executions.ts';

const { newExecutionsApi } = await createTestExecutions();
const api = await newExecutionsApi();
await api.agents.put({ name: 'reader' });

const invalid = async (body: unknown) =>
  (await api.refuses(() => api.delegate(body), 400, 'validation_failed')).details;

describe('a delegation is rejected with 400 validation_failed, and nothing is written,', () => {
  it('without a body, for both required fields', async () => {
    // `undefined` would be the default body.
    for (const body of ['', {}])
      expect(await invalid(body)).toMatchObject([
        { path: 'toAgent', code: 'required' },
        { path: 'instruction', code: 'required' },
      ]);
  });

  it.each([
    ['toAgent', 'Reader'],
    ['instruction', ' \n\u3000'],
    ['taskId', 'ex_01K00000000000000000000000'],
    ['context', [{ a: 1 }]],
  ])('for an invalid %s', async (path, value) => {
    const details = await invalid({ ...newDelegation, [path]: value });
    expect(details).toMatchObject([{ path, code: 'invalid_value' }]);
  });

  it('for fields that only the service sets, also those of the chain', async () => {
    const asked = { delegationId: 'x', fromAgent: 'x', status: 'accepted' };
    expect(await invalid({ ...newDelegation, ...asked })).toMatchObject(
      Object.keys(asked).map((path) => ({ path, code: 'read_only' })),
    );
    for (const path of ['ancestors', 'depth', 'delegatedBy', 'executionId', 'input'])
      expect(await invalid({ ...newDelegation, [path]: 0 })).toMatchObject([{ path, code: 'unknown_field' }]);
  });

  it('for a query parameter', async () => {
    const send = () => api.delegate(newDelegation, { query: 'toAgent=reader' });
    const { details } = await api.refuses(send, 400, 'validation_failed');
    expect(details).toMatchObject([{ path: 'toAgent', code: 'unknown_field' }]);
  });

  it('with all errors in one response', async () => {
    const details = await invalid({ toAgent: 'R', instruction: ' ', taskId: 'x', context: [], prompt: 'x' });
    expect(details?.map(({ path }) => path).sort()).toEqual(['context', 'instruction', 'prompt', 'taskId', 'toAgent']);
  });
});

// This test is last because each rejected request reads the whole table, with the large items.
it('an instruction can have 100,000 characters, of any number of bytes', async () => {
  const instruction = '😀'.repeat(60_000);
  expect((await api.startDelegated('writer', 'reader', { instruction })).input === instruction).toBe(true);
  expect((await api.delegate({ ...newDelegation, instruction: 'x'.repeat(100_000) })).status).toBe(200);
});
