import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { startEngine } from '../infra/local/engine/engine.ts';
import { createTemporaryFolder } from './temporary-files.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Where the run's table engine answers; each test file makes a table of its own in it. */
    dynamodbEndpoint: string;
  }
}

/** Starts one engine for all test files of a run, on a database in a temporary folder. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = createTemporaryFolder();
  const engine = await startEngine({ database: join(folder, 'table.db'), log: join(folder, 'engine.log') });
  project.provide('dynamodbEndpoint', engine.endpoint);
  return engine.stop;
}
