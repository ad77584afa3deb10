import { loadHandler } from '../infra/local/functions.ts';
import { endpoints } from '../lib/contract/endpoints.ts';
import { familyOf, fileNameOf, type Operation } from '../lib/contract/routes.ts';
import { type Answer, call, type Sent } from './service.ts';

/** Sends to a row of the contract: its method, its path and the function that is deployed for it. */
export async function sendTo(operation: Operation, { params = {}, ...sent }: Sent = {}): Promise<Answer> {
  const row = endpoints[operation];
  const handler = await loadHandler(familyOf(row), fileNameOf(operation));
  return call(handler as Parameters<typeof call>[0], {
    method: row.method,
    path: row.path.replace(/:(\w+)/g, (_, name: string) => params[name] ?? ''),
    params,
    ...sent,
  });
}
