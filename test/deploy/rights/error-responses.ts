import { expect, it } from 'vitest';
import { routes } from '../../../lib/contract/routes.ts';
import { errorOf, statusAndCodeOf } from '../../api.ts';
import { sendRequest } from '../../api-over-http.ts';
import { createDeployedOrganization, headerOf } from '../deployed.ts';

/** Defines the tests of the responses to requests without a right, and to paths that no route has. */
export function testErrorResponses(): void {
  it('every route with a scope responds with 401 to a request without a token', async () => {
    const { api } = await createDeployedOrganization('without-a-token');
    for (const [operation, { path, scope }] of routes) {
      if (!scope) continue;
      const params = Object.fromEntries([...path.matchAll(/:(\w+)/g)].map(([, name]) => [name, 'x']));
      const answer = await api[operation]({ token: '', params });
      const seen = [answer.status, headerOf(answer, 'WWW-Authenticate'), errorOf(answer)?.code];
      expect([operation, seen]).toEqual([operation, [401, 'Bearer', 'unauthorized']]);
    }
  });

  it('unknown methods and paths have error responses in the envelope', async () => {
    const { url, token } = await createDeployedOrganization('unknown-paths');
    const send = async (method: string, path: string) =>
      statusAndCodeOf(await sendRequest(url, { method, path, token }));
    expect(await send('PUT', '/api/kanban-tasks')).toEqual([405, 'method_not_allowed']);
    expect(await send('GET', '/api/nothing')).toEqual([404, 'not_found']);
  });
}
