import { expect, it } from 'vitest';
import { problemOfCall } from '../../../../infra/local/demo/demo-client.ts';
import { createClient } from '../../../../lib/client/client.ts';

it('says in words that the service does not answer', async () => {
  const url = 'http://127.0.0.1:1';
  const error = await createClient({ url, token: 'crew_any', tries: 1 })
    .listTasks()
    .catch((error: unknown) => error);
  expect(problemOfCall(error)).toBe(`the service at ${url} does not answer.`);
});
