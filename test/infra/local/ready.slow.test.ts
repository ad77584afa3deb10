import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { findRunning, tableName } from '../../../infra/local/running.ts';
import { openLocalTable } from '../../../infra/local/table/local-table.ts';
import { launch, newFolder } from '../../journeys/deployment.ts';
import { freePort } from '../../servers/free-port.ts';
import { startLoopbackServer } from '../../servers/loopback.ts';
import { startTableServer, writes } from '../../table/fixtures/table-server.ts';

const { table } = openLocalTable({ path: ':memory:', tableName, kinds: [] });
const engine = await startTableServer(table);

it('a first start answers no request, and no command finds it, before its token exists', async () => {
  const dataFolder = newFolder();
  // A former start has ended here, and another program answers at its address now.
  const other = await startLoopbackServer((_, response) => response.end());
  writeFileSync(join(dataFolder, 'addresses.json'), JSON.stringify({ url: other.url, environment: {} }));
  const [reached, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  engine.before = (request) => {
    if (!writes(request) || !request.json.includes('TOK#')) return undefined;
    reached.resolve();
    return released.promise;
  };
  const PORT = String(await freePort());
  const { ready } = launch({ dataFolder, environment: { PORT, DYNAMODB_ENDPOINT: engine.endpoint } });
  await reached.promise;
  await expect(fetch(`http://127.0.0.1:${PORT}/health`)).rejects.toThrow();
  await expect(findRunning(dataFolder)).rejects.toThrow('No Crewboard is running on the data folder');
  expect(existsSync(join(dataFolder, 'token'))).toBe(false);
  released.resolve();
  const address = await ready;
  expect((await findRunning(dataFolder)).url).toBe(address?.url);
  await other.close();
});
