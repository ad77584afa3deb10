import { describe, expect, it } from 'vitest';
import { newDelegation, openCrews } from './crew.ts';

const { newCrew } = await openCrews();
const crew = await newCrew();
await crew.registry.put({ name: 'reader' });

const invalid = async (body: unknown) =>
  (await crew.refuses(() => crew.delegate(body), 400, 'validation_failed')).details;

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
    ['is null', null, 'invalid_type'],
    ['is not a string', ['reader'], 'invalid_type'],
    ['is empty', '', 'invalid_value'],
    ['is in upper case', 'Reader', 'invalid_value'],
    ['ends with a line break', 'reader\n', 'invalid_value'],
    ['has 65 characters', 'x'.repeat(65), 'invalid_value'],
    ['is the id of an agent', 'ag_01K00000000000000000000000', 'invalid_value'],
  ])('for a toAgent that %s', async (_, toAgent, code) => {
    expect(await invalid({ ...newDelegation, toAgent })).toMatchObject([{ path: 'toAgent', code }]);
  });

  it.each([
    ['is null', null, 'invalid_type'],
    ['is not a string', { text: 'x' }, 'invalid_type'],
    ['is empty', '', 'invalid_value'],
    ['is white space', ' \n\u3000', 'invalid_value'],
    ['has 100,001 characters', 'x'.repeat(100_001), 'invalid_value'],
  ])('for an instruction that %s', async (_, instruction, code) => {
    expect(await invalid({ ...newDelegation, instruction })).toMatchObject([{ path: 'instruction', code }]);
  });

  it('for a lone surrogate in the instruction', async () => {
    const details = await invalid('{"toAgent":"reader","instruction":"a\\ud800"}');
    expect(details).toMatchObject([{ path: 'instruction', code: 'invalid_value' }]);
  });

  it.each([
    ['is null', null, 'invalid_type'],
    ['is not an id', 'task-1', 'invalid_value'],
    ['is the id of an execution', 'ex_01K00000000000000000000000', 'invalid_value'],
    ['is in lower case', 'tk_01k00000000000000000000000', 'invalid_value'],
  ])('for a taskId that %s', async (_, taskId, code) => {
    expect(await invalid({ ...newDelegation, taskId })).toMatchObject([{ path: 'taskId', code }]);
  });

  it.each([
    ['is null', null, 'must be an object'],
    ['is an array', [{ a: 1 }], 'must be an object'],
    ['has 64 KiB and a byte', { a: 'x'.repeat(65_529) }, '65,536 bytes'],
  ])('for a context that %s', async (_, context, said) => {
    const details = await invalid({ ...newDelegation, context });
    expect(details).toMatchObject([{ path: 'context', message: expect.stringContaining(said) }]);
  });

  it('for misspelled fields, with the known field as a suggestion', async () => {
    const asked = { to_agent: 'toAgent', task_id: 'taskId', instructions: 'instruction', Context: 'context' };
    const details = await invalid({ ...newDelegation, ...asked });
    expect(details).toMatchObject(
      Object.entries(asked).map(([path, meant]) => ({
        path,
        code: 'unknown_field',
        message: expect.stringContaining(`did you mean ${meant}?`),
      })),
    );
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
    const send = () => crew.delegate(newDelegation, { query: 'toAgent=reader' });
    const { details } = await crew.refuses(send, 400, 'validation_failed');
    expect(details).toMatchObject([{ path: 'toAgent', code: 'unknown_field' }]);
  });

  it('with all errors in one response', async () => {
    const details = await invalid({ toAgent: 'R', instruction: ' ', taskId: 'x', context: [], prompt: 'x' });
    expect(details?.map(({ path }) => path).sort()).toEqual(['context', 'instruction', 'prompt', 'taskId', 'toAgent']);
  });
});

describe('a delegation is rejected, and nothing is written,', () => {
  it('with 413 payload_too_large for a body over 256 KiB', async () => {
    const body = JSON.stringify(newDelegation).padEnd(256 * 1024 + 1, ' ');
    await crew.refuses(() => crew.delegate(body), 413, 'payload_too_large');
  });

  it('with 415 unsupported_media_type for a media type other than JSON', async () => {
    const headers = { 'Content-Type': 'text/plain' };
    await crew.refuses(() => crew.delegate(newDelegation, { headers }), 415, 'unsupported_media_type');
  });

  it('with 400 invalid_json for a body that is not JSON', async () => {
    await crew.refuses(() => crew.delegate('{"toAgent":"reader"'), 400, 'invalid_json');
  });
});

// This test is last because each rejected request reads the whole table, with the large items.
it('an instruction can have 100,000 characters, of any number of bytes', async () => {
  const instruction = '😀'.repeat(60_000);
  expect((await crew.handOn('writer', 'reader', { instruction })).input === instruction).toBe(true);
  expect((await crew.delegate({ ...newDelegation, instruction: 'x'.repeat(100_000) })).status).toBe(200);
});
