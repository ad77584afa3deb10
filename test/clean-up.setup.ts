import { afterAll, vi } from 'vitest';
import { endFile } from './end-of-file.ts';

// The files of a worker share its modules and its environment variables. Before each file, vitest runs this one and
// restores spies and mocks.
const variables = { ...process.env };

afterAll(async () => {
  vi.useRealTimers();
  await endFile();
  vi.unstubAllEnvs();
  for (const name of Object.keys(process.env)) if (!(name in variables)) delete process.env[name];
  Object.assign(process.env, variables);
});
