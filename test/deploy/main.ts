import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Problem } from '../../infra/local/problem.ts';
import { processesOn } from '../processes.ts';
import { installPrograms } from '../python.ts';
import { startEmulator } from './emulator.ts';
import { type Leashed, startLeashed } from './leash.ts';
import { startModel } from './model.ts';

const root = join(import.meta.dirname, '..', '..');
const startedAt = Date.now();

/** Called in reverse order at the end, also after a failure. */
const ends: (() => unknown)[] = [];
let tests: Leashed | undefined;
let interrupted = false;

function say(text: string): void {
  const seconds = Math.round((Date.now() - startedAt) / 1000);
  console.log(`── ${String(seconds).padStart(3)} s  ${text}`);
}

/** `npm run test:deploy`: deploys the stack to an emulator of AWS, runs its tests, and destroys it. */
async function main(): Promise<number> {
  say('installing an emulator of AWS and cfn-lint into .deploy, if they are not there');
  const programs = await installPrograms(join(root, '.deploy', 'emulator'), {
    what: 'the emulator of AWS that the stack is deployed to, and cfn-lint',
    requirements: join(import.meta.dirname, 'requirements.txt'),
  });
  // The command line of every process of the emulator and of its functions has this path.
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'crewboard-deploy-')));
  ends.push(() => {
    if (process.exitCode !== 0) return say(`the output of the emulator and the CDK is in ${folder}`);
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  const model = await startModel();
  ends.push(model.close);
  say('starting it');
  const emulator = await startEmulator(programs, folder, model.url);
  ends.push(async () => {
    say('ending it');
    await emulator.stop();
    if (!(await noneRunsOn(folder))) throw new Error(`Not ended: ${processesOn(folder).join(', ')}.`);
  });
  say('deploying to it, by the tests');
  return interrupted
    ? 1
    : runTests({ ...emulator.shell, DEPLOY_FOLDER: folder, DEPLOY_PROGRAMS: programs }, process.argv.slice(2));
}

function runTests(shell: Record<string, string>, args: string[]): Promise<number> {
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const { TEST_REPORT } = process.env;
  tests = startLeashed([process.execPath, vitest, 'run', '--project', 'deploy', ...args], {
    cwd: root,
    env: { ...shell, ...(TEST_REPORT && { TEST_REPORT }) },
    output: 'inherit',
  });
  ends.push(tests.stop);
  return tests.ended;
}

/** Whether the processes that name a folder have ended, or soon do. */
async function noneRunsOn(folder: string): Promise<boolean> {
  for (let tries = 0; processesOn(folder).length > 0; tries++) {
    if (tries === 100) return false;
    await pause(100);
  }
  return true;
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => {
    interrupted = true;
    void tests?.stop();
  });

try {
  process.exitCode = await main();
} catch (error) {
  console.error(error instanceof Problem ? error.message : error);
  process.exitCode = 1;
}
for (const end of ends.reverse())
  try {
    await end();
  } catch (error) {
    console.error(error);
    process.exitCode = 1;
  }
say('ended');
