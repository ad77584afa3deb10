import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { processContext } from '../../lib/context/context.ts';
import { type Endpoint, scopes } from '../../lib/contract/endpoint.ts';
import { requiredScopes } from '../../lib/contract/required-scopes.ts';
import { type Operation, routes } from '../../lib/contract/routes.ts';
import { issueToken } from '../../lib/http/issue-token.ts';
import { errorOf, type Request } from '../api.ts';
import { createTaskCallers } from '../functions/kanban-tasks/task-caller.ts';

const { newTaskCaller } = await createTaskCallers();
const caller = await newTaskCaller();

const rows: readonly (readonly [Operation, Endpoint])[] = routes;
const guarded = rows.filter(([, { scope }]) => scope);
const withParams = rows.filter(([, { params }]) => params);
const withBody = rows.filter(([, { body }]) => body);

/** Returns well-formed path parameters of resources that do not exist. */
const paramsOf = ({ params = {} }: Endpoint): Record<string, string> =>
  Object.fromEntries(Object.entries(params).map(([name, schema]) => [name, String(v.getExamples(schema).at(0))]));

describe.each(guarded)('%s', (operation, row) => {
  it('responds with 401 unauthorized without a token', async () => {
    const send = () => caller[operation]({ params: paramsOf(row), token: undefined });
    await caller.refuses(send, 401, 'unauthorized');
  });
});

describe.each(guarded.filter(([, { scope }]) => scope !== 'any'))('%s', (operation, row) => {
  it.each(requiredScopes(row))(
    'responds with 403 insufficient_scope to a token with all scopes but %s',
    async (own) => {
      const others = scopes.filter((scope) => scope !== own);
      const token = await issueToken(processContext(), { organization: caller.organization, scopes: others });
      const error = await caller.refuses(
        () => caller[operation]({ params: paramsOf(row), token }),
        403,
        'insufficient_scope',
      );
      expect(error.message).toBe(`This access token does not have the scope ${own}; use a token that has it.`);
    },
  );
});

describe.each(rows)('%s', (operation, row) => {
  const send = (request: Request) => caller[operation]({ params: paramsOf(row), ...request });

  it('responds with 400 validation_failed to a query parameter that it does not have', async () => {
    const error = await caller.refuses(() => send({ query: 'colour=red' }), 400, 'validation_failed');
    expect(error.details).toContainEqual(expect.objectContaining({ path: 'colour', code: 'unknown_field' }));
  });

  it('responds with 413 payload_too_large to a body of 300 KB, sent with no scope but its own', async () => {
    const { organization } = caller;
    const token = await issueToken(processContext(), { organization, scopes: requiredScopes(row) });
    await caller.refuses(() => send({ token, body: 'x'.repeat(300 * 1024) }), 413, 'payload_too_large');
  });
});

describe.each(withBody)('%s', (operation, row) => {
  const send = (body: string | undefined) => caller[operation]({ params: paramsOf(row), body });

  it.each(['[]', 'null', '"title"', '1e3'])('responds with 400 validation_failed to the body %s', async (body) => {
    const error = await caller.refuses(() => send(body), 400, 'validation_failed');
    expect(error.details).toMatchObject([{ path: '', code: 'invalid_type' }]);
  });

  it('takes no body as an empty object', async () => {
    const [none, empty] = [await send(undefined), await send('{}')];
    expect(none.status).toBe(empty.status);
    expect({ ...errorOf(none), requestId: '' }).toEqual({ ...errorOf(empty), requestId: '' });
  });
});

describe.each(withParams)('%s', (operation, row) => {
  it.each(['__proto__', 'CONSTRUCTOR', '..', '%2e%2e', '', ' ', '\u0000', '😀', 'x'.repeat(10_240)])(
    'responds with 404 not_found to the malformed path parameter %j',
    async (malformed) => {
      const params = Object.fromEntries(Object.keys(row.params ?? {}).map((name) => [name, malformed]));
      await caller.refuses(() => caller[operation]({ params }), 404, 'not_found');
    },
  );
});
