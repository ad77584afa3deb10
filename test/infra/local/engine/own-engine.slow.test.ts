import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startEngine } from '../../../../infra/local/engine/engine.ts';
import { paginationOf } from '../../../api.ts';
import { newFolder, startDeployment } from '../../../journeys/deployment.ts';
import { attemptsOf, createTask, newToken, register } from '../../../journeys/requests.ts';
import { processesOn } from '../../../processes.ts';
import { startReceiver } from '../../../webhooks/sender/receiver.ts';

it('the service uses the engine that DYNAMODB_ENDPOINT names, and does not stop it', async () => {
  const folder = newFolder();
  const engine = await startEngine({ database: join(folder, 'own.db'), log: join(folder, 'engine.log') });
  const environment = { DYNAMODB_ENDPOINT: engine.endpoint };
  const receiver = await startReceiver();
  const first = await startDeployment({ environment });
  expect(processesOn(first.dataFolder)).toEqual([]);
  expect(existsSync(join(first.dataFolder, 'table.db'))).toBe(false);
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
  await Promise.all([engine.stop(), engine.ended]);
  expect(processesOn(folder)).toEqual([]);
});
