import { join } from 'node:path';
import { afterAll } from 'vitest';
import { environment } from '../../lib/names/environment.ts';
import { startQueues } from '../servers/sqs-emulator.ts';
import { openService, pointFunctionsAt } from '../service.ts';
import { createTemporaryFolder } from '../temporary-files.ts';

/**
 * Points the functions of this process at a table, a key and queues of the test file's own. A test file calls it once,
 * before its first call of a function.
 *
 * @param more further environment variables
 */
export async function openServiceWithQueues(more: Record<string, string> = {}) {
  const [service, queues] = await Promise.all([openService(), startQueues()]);
  afterAll(() => queues.stop());
  pointFunctionsAt(service, {
    [environment.secretsKeyFile]: join(createTemporaryFolder(), 'secrets.key'),
    [environment.sqsEndpoint]: queues.endpoint,
    ...queues.variables,
    ...more,
  });
  return { service, queues };
}
