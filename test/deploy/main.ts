import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Problem } from '../../infra/problem.ts';
import { processesOn } from '../processes/processes.ts';
import { installPrograms } from '../processes/python.ts';
import { startEmulator } from './emulator/emulator.ts';
import { type Leashed, startLeashed } from './emulator/leash.ts';
import { startModel } from './emulator/model.ts';
import { hasCommit, installCommit, latestRelease } from './upgrade/former-version.ts';

const root = join(import.meta.dirname, '..', '..');
const startedAt = Date.now();

/** The exit code for "skipped" of test runners (Automake, Meson). */
const skipped = 77;

/** Called in reverse order at the end, also after a failure. */
const ends: (() => unknown)[] = [];
let tests: Leashed | undefined;
let interrupted = false;

function say(text: string): void {
  const seconds = Math.round((Date.now() - startedAt) / 1000);
  console.log(`── ${String(seconds).padStart(3)} s  ${text}`);
}

/** `npm run test:deploy`: deploys the stack to an emulator of AWS, runs its tests, and destroys it. */
const testDeploy = (args: string[]) => runOnEmulator(['--project', 'deploy', ...args]);

/**
 * `npm run test:upgrade`: deploys the latest release, or the commit of `--from`, to an emulator of AWS, updates the stack to
 * these sources, runs the tests of the upgrade, and destroys it. Exits with 77 if this clone does not have the commit.
 */
async function testUpgrade(args: string[]): Promise<number> {
  const at = args.indexOf('--from');
  const [, commit = latestRelease] = at < 0 ? [] : args.splice(at, 2);
  if (!(await hasCommit(commit))) {
    console.error(
      `The test of the upgrade is skipped: this clone does not have the commit ${commit}. Fetch it by git fetch --unshallow.`,
    );
    return skipped;
  }
  const former = realpathSync(mkdtempSync(join(tmpdir(), 'crewboard-former-')));
  ends.push(() => rmSync(former, { recursive: true, force: true, maxRetries: 5 }));
  say(`installing the packages of ${commit.slice(0, 8)}`);
  await installCommit(commit, former);
  return runOnEmulator(['--project', 'upgrade', ...args], { FORMER_CHECKOUT: former });
}

/** Starts the emulator, and runs vitest with these arguments and the environment variables that its tests need. */
async function runOnEmulator(args: string[], variables: Record<string, string> = {}): Promise<number> {
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
  const shell = { ...emulator.shell, DEPLOY_FOLDER: folder, DEPLOY_PROGRAMS: programs, ...variables };
  return interrupted ? 1 : runTests(shell, args);
}

function runTests(shell: Record<string, string>, args: string[]): Promise<number> {
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const { TEST_REPORT } = process.env;
  tests = startLeashed([process.execPath, vitest, 'run', ...args], {
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
  const [suite, ...args] = process.argv.slice(2);
  process.exitCode = await (suite === 'upgrade' ? testUpgrade(args) : testDeploy(args));
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
