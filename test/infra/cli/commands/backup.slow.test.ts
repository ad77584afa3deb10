import { copyFileSync, existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { newFolder, startDeployment } from '../../../journeys/deployment.ts';
import { createTask, readTask } from '../../../journeys/requests.ts';
import { crewboardIn } from './local-service.ts';

it('a running service copies its table to a file of the folder in which npm was called, and the copy can be restored', async () => {
  const service = await startDeployment();
  const { dataFolder } = service;
  const task = await createTask(service, 'Before the backup');
  const INIT_CWD = newFolder();
  const backUp = () => crewboardIn({ CREWBOARD_DATA: dataFolder, INIT_CWD }, 'backup', 'copy.db');
  const copy = join(INIT_CWD, 'copy.db');
  expect(await backUp()).toMatchObject({ code: 0, stdout: `Copied the table to ${copy}.\n`, stderr: '' });
  expect(statSync(copy).mode & 0o777).toBe(0o600);
  const stderr = `The file ${copy} exists already; name another one.\n`;
  expect(await backUp()).toMatchObject({ code: 1, stdout: '', stderr });
  const later = await createTask(service, 'After the backup');
  await service.stop();
  expect(await backUp()).toMatchObject({ code: 1, stdout: '', stderr });

  // After a clean stop, the table is one file (docs/local-service.md#backups).
  for (const end of ['-wal', '-shm']) expect(existsSync(join(dataFolder, `crewboard.db${end}`))).toBe(false);
  copyFileSync(copy, join(dataFolder, 'crewboard.db'));
  const restored = await startDeployment({ dataFolder });
  expect(restored.token).toBe(service.token);
  expect((await readTask(restored, task)).title).toBe('Before the backup');
  expect((await restored.api.getTask({ params: { id: later } })).status).toBe(404);
});
