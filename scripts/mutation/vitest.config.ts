import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { TestSpecification } from 'vitest/node';
import { nearestFirst } from './mutants.ts';

// The tree under test has its own configuration. It is the current folder.
const { default: config } = await import(pathToFileURL(resolve('vitest.config.ts')).href);
const quick = config.test.projects.find(({ test }: { test: { name: string } }) => test.name === 'quick');

/** Tests of other folders. Some of them read the code as text and fail because StrykerJS has changed it. */
const ofOtherFolders = 'test/{bench,contract,docs,fuzz,infra,lint,scripts}/**';

/** How long a test may take with a mutant. It is many times what the slowest quick test takes. */
const guardMs = 60_000;

/** Runs first the tests that are most likely to fail. */
class NearestFirst {
  async shard(files: TestSpecification[]): Promise<TestSpecification[]> {
    return files;
  }

  async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const mutated = process.env.MUTATED_FILE ?? '';
    return files.toSorted((a, b) => nearestFirst(mutated, resolve(a.moduleId), resolve(b.moduleId)));
  }
}

export default {
  test: {
    reporters: [],
    sequence: { sequencer: NearestFirst },
    projects: [
      {
        test: {
          ...quick.test,
          // A file that shares its modules would not evaluate again those that a mutant changes.
          isolate: true,
          exclude: [...quick.test.exclude, ofOtherFolders],
          testTimeout: guardMs,
          hookTimeout: guardMs,
        },
      },
    ],
  },
};
