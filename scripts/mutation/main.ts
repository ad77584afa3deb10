import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { describeMutant, FOLDERS, type MutantResult, scoreTable } from './mutants.ts';

/** The versions of StrykerJS. The project does not depend on it: its 60 MB are needed here only. */
const PACKAGES = ['@stryker-mutator/core@10.1.1', '@stryker-mutator/vitest-runner@10.1.1'];

const { values } = parseArgs({
  options: {
    /** The folder of the commit to score, with its packages installed. */
    tree: { type: 'string', default: '.' },
    seed: { type: 'string', default: '1' },
    /** How many per cent of all mutants the sample has. */
    percent: { type: 'string', default: '2.6' },
    /** How many test files may run for one mutant. */
    files: { type: 'string', default: '40' },
    concurrency: { type: 'string', default: '2' },
  },
});

const here = (file: string) => fileURLToPath(new URL(file, import.meta.url));
process.chdir(resolve(values.tree));
const tool = resolve('node_modules/.cache/stryker');
installTool();
Object.assign(process.env, {
  MUTATION_TOOL: tool,
  MUTATION_SEED: values.seed,
  MUTATION_PERCENT: values.percent,
  MUTATION_FILES: values.files,
});

const { Stryker } = await import(
  pathToFileURL(join(tool, 'node_modules/@stryker-mutator/core/dist/src/index.js')).href
);
const startedAt = Date.now();
const results: MutantResult[] = await new Stryker({
  mutate: FOLDERS.filter((folder) => existsSync(`lib/${folder}`)).map((folder) => `lib/${folder}/**/*.ts`),
  plugins: ['@stryker-mutator/vitest-runner', here('plugin.ts')],
  checkers: ['sample'],
  reporters: ['lines'],
  testRunner: 'vitest-files',
  vitest: { configFile: here('vitest.config.ts'), related: false },
  coverageAnalysis: 'perTest',
  concurrency: Number(values.concurrency),
  dryRunTimeoutMinutes: 40,
  timeoutFactor: 3,
  timeoutMS: 30_000,
  tsconfigFile: 'none',
  disableTypeChecks: false,
  // Git ignores this folder.
  tempDirName: 'coverage/mutation',
}).runMutationTest();

const sample = results.filter(({ status }) => status !== 'CompileError');
const survivors = sample.filter(({ status }) => status === 'Survived' || status === 'NoCoverage');
const minutes = Math.round((Date.now() - startedAt) / 60_000);
console.log(`\n${sample.length} of ${results.length} mutants in ${minutes} minutes, seed ${values.seed}\n`);
console.log(scoreTable(sample).join('\n'));
console.log('\nSurvivors:');
for (const mutant of survivors) console.log(describeMutant(mutant));

/** Installs StrykerJS in a folder below the packages of the tree, so that it finds the vitest of the tree. */
function installTool(): void {
  if (existsSync(join(tool, 'node_modules'))) return;
  mkdirSync(tool, { recursive: true });
  writeFileSync(join(tool, 'package.json'), '{ "private": true }\n');
  execFileSync('npm', ['install', '--omit=peer', '--no-audit', '--no-fund', ...PACKAGES], {
    cwd: tool,
    stdio: 'inherit',
  });
}
