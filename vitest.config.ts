import { defineConfig } from 'vitest/config';
import { createRunFolder } from './test/temporary-files.ts';

createRunFolder();

/** Counted by `.ci/run`, which asks for a report of its own. */
const report = process.env.TEST_REPORT;

/** The tests of the deployed stack. */
const deployed = 'test/deploy/stack.test.ts';

/** The tests of an update from the latest release. */
const upgraded = 'test/deploy/upgrade/upgrade.test.ts';

/** The tests of a stack that is already deployed. */
const running = 'test/deploy/running-stack.test.ts';

/** The tests that need packages of Python. */
const byPython = 'test/docs/examples/examples-fastapi.test.ts';

/** The tests that need a browser. */
const inBrowser = ['test/console/browser/**/*.test.ts', 'test/docs-page/*.test.ts', 'test/client/browser.test.ts'];

/** How long a quick test or hook may take. It ends what hangs and measures nothing: tests slow down together. */
const guardMs = 120_000;

/** Ends what a file has started, and restores what it has changed. */
const setupFiles = ['test/clean-up.setup.ts'];

const common = {
  // A worker's start is a good part of a short file's time, and a thread starts sooner than a process.
  pool: 'threads' as const,
  setupFiles,
  env: { POWERTOOLS_LOG_LEVEL: 'SILENT' },
  expect: { poll: { timeout: 15_000 } },
};

/** The tests of `npm test`. */
export const quickTests = {
  ...common,
  name: 'quick',
  // Most of a short file's time is loading the modules that all files use, so the files of a worker share them.
  isolate: false,
  include: ['test/**/*.test.ts'],
  exclude: ['test/**/*.slow.test.ts', deployed, upgraded, running, byPython, ...inBrowser],
  testTimeout: guardMs,
  hookTimeout: guardMs,
};

export default defineConfig({
  test: {
    reporters: report ? ['default', ['json', { outputFile: report }]] : ['default'],
    projects: [
      {
        test: quickTests,
      },
      {
        test: {
          ...common,
          // Each in a process of its own: the threads of one share a pool for files and DNS, and would hold one another up.
          pool: 'forks' as const,
          name: 'slow',
          include: ['test/**/*.slow.test.ts'],
          testTimeout: 300_000,
          hookTimeout: 120_000,
        },
      },
      {
        // Run by `npm run test:browser`.
        test: {
          name: 'browser',
          setupFiles,
          expect: common.expect,
          include: inBrowser,
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        // Run by `npm run test:python`, which installs the packages.
        test: { ...common, name: 'python', include: [byPython], testTimeout: 120_000, hookTimeout: 120_000 },
      },
      {
        // Run by `npm run test:deploy`, which starts what it is deployed to.
        test: {
          name: 'deploy',
          setupFiles,
          include: [deployed],
          testTimeout: 120_000,
          hookTimeout: 240_000,
        },
      },
      {
        // Run by `npm run test:upgrade`, likewise.
        test: {
          name: 'upgrade',
          setupFiles,
          include: [upgraded],
          testTimeout: 600_000,
          hookTimeout: 120_000,
        },
      },
      {
        // Run by `npm run test:stack`, on the stack that `STACK` names.
        test: {
          name: 'stack',
          setupFiles,
          include: [running],
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
