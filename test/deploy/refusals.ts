import { expect, it } from 'vitest';
import { routes } from '../../lib/contract/routes.ts';
import { until } from '../journeys/deployment.ts';
import { openDeployed, tokenCommand } from './deployed.ts';

const guarded = routes.filter(([, { scope }]) => scope).map(([operation, row]) => ({ operation, ...row }));

/** Who is not let in. */
export function reportErrors(): void {
  it('answers 401 on every route of the contract to whoever has no token', async () => {
    const { url } = await openDeployed('refusals');
    const answers: Record<string, unknown> = {};
    for (const { operation, method, path } of guarded) {
      const answer = await fetch(url + path.replaceAll(/:\w+/g, 'x'), { method });
      const { error } = (await answer.json()) as { error?: { code: string } };
      answers[operation] = [answer.status, answer.headers.get('www-authenticate'), error?.code];
    }
    const refused = guarded.map(({ operation }) => [operation, [401, 'Bearer', 'unauthorized']]);
    expect(answers).toEqual(Object.fromEntries(refused));
  });

  it('refuses a token within 30 s of its revocation', async () => {
    const { api, token } = await openDeployed('revoked');
    const status = async () => (await api('GET', '/api/kanban-tasks')).status;
    expect(await status()).toBe(200);
    await tokenCommand('revoke', token);
    await until('the token is refused', async () => (await status()) === 401, 40_000);
  });

  it('answers in the envelope what no route serves', async () => {
    const { api } = await openDeployed('lost');
    const answers = [await api('PUT', '/api/kanban-tasks'), await api('GET', '/api/nothing')];
    expect(answers.map(({ status, body }) => [status, body.error.code])).toEqual([
      [405, 'method_not_allowed'],
      [404, 'not_found'],
    ]);
  });
}
