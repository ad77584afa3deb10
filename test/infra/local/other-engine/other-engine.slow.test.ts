import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { dataFiles } from '../../../../infra/local/data-folder.ts';
import { tableName } from '../../../../infra/local/running.ts';
import { openLocalTable } from '../../../../infra/local/table/local-table.ts';
import { published } from '../../../../lib/names/consumers.ts';
import { paginationOf } from '../../../api.ts';
import { startDeployment } from '../../../journeys/deployment.ts';
import { attemptsOf, createTask, newToken, register } from '../../../journeys/requests.ts';
import { startReceiver } from '../../../sender/receiver.ts';
import { startTableServer } from '../../../table/fixtures/table-server.ts';

it('the service uses the engine that DYNAMODB_ENDPOINT names, and has no table of its own', async () => {
  const { table, changes } = openLocalTable({ path: ':memory:', tableName, kinds: published.kinds });
  const engine = await startTableServer(table, changes);
  const environment = { DYNAMODB_ENDPOINT: engine.endpoint };
  const receiver = await startReceiver();
  const first = await startDeployment({ environment });
  expect(existsSync(join(first.dataFolder, dataFiles.table))).toBe(false);
  const webhook = await register(first, { url: receiver.url, events: ['task.created'], secret: 'shared' });
  const id = await createTask(first, 'Elsewhere');
  await attemptsOf(first, webhook, 1);
  const other = await newToken(first, 'guests');
  expect(paginationOf(await first.api.listTasks({ token: other })).total).toBe(0);
  expect((await first.stop()).code).toBe(0);

  const second = await startDeployment({ environment, dataFolder: first.dataFolder });
  expect(second.token).toBe(first.token);
  expect((await second.api.getTask({ params: { id } })).status).toBe(200);
  expect((await second.stop()).code).toBe(0);
});
