import { join } from 'node:path';
import { afterEach, vi } from 'vitest';
import { processContext } from '../../../../lib/context/context.ts';
import { type Scope, scopes } from '../../../../lib/contract/endpoint.ts';
import type { Operation } from '../../../../lib/contract/routes.ts';
import { issueToken } from '../../../../lib/http/issue-token.ts';
import { environment } from '../../../../lib/names/environment.ts';
import { openTable } from '../../../../lib/table/access/client.ts';
import { createApi } from '../../../api.ts';
import { createTestImprovements } from '../../../functions/agents/test-improvements.ts';
import { usual } from '../../../improvements/learning-model.ts';
import { startReceiver } from '../../../sender/receiver.ts';
import { type Answer, pointFunctionsAt } from '../../../service.ts';
import { startTableServer, type TableServer } from '../../../table/fixtures/table-server.ts';
import { createTemporaryFolder } from '../../../temporary-files.ts';

export type Request = { params?: Record<string, string>; body?: unknown };

/** An organization with a caller that can send any request, and access to its data. */
export type Tenant = Awaited<ReturnType<Awaited<ReturnType<typeof createTenants>>['newTenant']>>;

/** The start of the fake clock of these tests; only tests move it. */
export const start = Date.parse('2026-03-01T12:00:00.000Z');

const cap = 2;

/**
 * Makes the handlers of this process use a table, models and a receiver of this test file. A test file calls it once,
 * before its first request. Each call of `newTenant` creates an organization.
 */
export async function createTenants() {
  vi.useFakeTimers({ toFake: ['Date'], now: start });
  const { service, newImprovementsApi, teach } = await createTestImprovements();
  const engine: TableServer = await startTableServer(service.table);
  pointFunctionsAt(
    { ...service, table: openTable(service.tableName, engine.endpoint) },
    {
      [environment.secretsKeyFile]: join(createTemporaryFolder(), 'secrets.key'),
      [environment.allowedReceivers]: '127.0.0.1:*',
      [environment.runningCap]: String(cap),
    },
  );
  let [reached, goOn] = [() => {}, Promise.resolve()];
  const answering = async () => {
    reached();
    await goOn;
  };
  const receiver = await startReceiver(async (response) => {
    await answering();
    response.writeHead(200).end('thank you');
  });
  afterEach(() => {
    engine.reset();
    [reached, goOn] = [() => {}, Promise.resolve()];
    vi.setSystemTime(start);
  });

  return {
    engine,
    newTenant: async () => {
      const api = await newImprovementsApi(scopes);
      const { organization } = api;
      const asked = teach({
        proposal: async (question) => {
          await answering();
          return usual.proposal(question);
        },
      });
      const before = receiver.received.length;
      return {
        ...api,
        service,
        receiver: receiver.url,
        /** The number of requests to the receiver; `proposals` is the number of model calls for a proposal. */
        posts: () => receiver.received.length - before,
        proposals: () => asked.filter(({ step }) => step === 'proposal').length,
        tokenOf: (allowed: readonly Scope[]) => issueToken(processContext(), { organization, scopes: allowed }),

        send: (
          operation: Operation,
          request: Request = {},
          { key, ifMatch, token = api.token }: { key?: string; ifMatch?: string; token?: string } = {},
        ): Promise<Answer> => {
          const headers = {
            ...(key !== undefined && { 'Idempotency-Key': key }),
            ...(ifMatch !== undefined && { 'If-Match': ifMatch }),
          };
          return createApi(token)[operation]({ ...request, headers });
        },
      };
    },

    /** Delays all external calls from now on: `reached` resolves at the first call, `goOn` ends the delay. */
    hold: () => {
      const [arrival, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      [reached, goOn] = [arrival.resolve, answer.promise];
      return { reached: arrival.promise, goOn: answer.resolve };
    },
  };
}
