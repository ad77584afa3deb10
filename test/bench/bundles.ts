import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { build, type Plugin } from 'esbuild';
import { asFunctions, bundleFunctions, stubs } from '../../infra/aws/bundle.ts';
import { sdkParts } from '../../infra/aws/bundle-sdk.ts';
import { consumers } from '../../lib/names/consumers.ts';
import { numberSettings } from '../../lib/settings/number-settings.ts';
import { weightsOf } from '../infra/aws/bundle/bundle-weights.ts';
import { importCpuRatios } from '../infra/aws/bundle/import-cpu.ts';
import { memoryOfRuns } from './function-memory.ts';

/** The functions whose imports are measured: without a client beside DynamoDB's, with KMS's, SQS's and Bedrock's. */
const measured = [
  'functions/kanban-tasks/create-task.ts',
  'functions/webhooks/test-webhook.ts',
  'functions/agents/self-improve-agent.ts',
  'functions/pipeline/deliver-webhook.ts',
  'functions/pipeline/run-execution.ts',
];

/** Parts of a bundle that are smaller are not printed, in bytes. */
const smallestPart = 4_000;

/** Prints the size of every bundle, and its largest parts. */
async function printSizes(folder: string): Promise<void> {
  const bundles = await bundleFunctions(folder);
  const weights = weightsOf(JSON.parse(await readFile(join(folder, 'meta.json'), 'utf8')));
  for (const [source, by] of weights) {
    console.log(`\n${source}: ${await kilobytes(join(bundles.get(source) as string, 'index.mjs'))} KB`);
    for (const [origin, bytes] of by)
      if (bytes >= smallestPart) console.log(`${(bytes / 1000).toFixed(1).padStart(8)}  ${origin}`);
  }
}

/** Bundles the measured functions with a part of the stubs and of the plugins, and returns the paths of their bundles. */
async function bundleMeasured(outdir: string, used: readonly (string | Plugin)[]): Promise<string[]> {
  const alias = Object.fromEntries(Object.entries(stubs).filter(([, file]) => used.includes(file)));
  const plugins = asFunctions.plugins.filter((plugin) => !sdkParts.includes(plugin) || used.includes(plugin));
  await build({ ...asFunctions, alias, plugins, entryPoints: measured, outdir, outExtension: { '.js': '.mjs' } });
  return measured.map((source) => join(outdir, source.replace('functions/', '').replace('.ts', '.mjs')));
}

/** Prints a table: the size of each measured bundle and the CPU time of its import, as one stub after another is added. */
async function printStubs(folder: string): Promise<void> {
  const added = [...new Set(Object.values(stubs)), ...sdkParts];
  const steps = ['no stub', ...added.map((one) => `+ ${typeof one === 'string' ? basename(one) : one.name}`)];
  const modules = await Promise.all(steps.map((_, at) => bundleMeasured(join(folder, String(at)), added.slice(0, at))));
  const ratios = await importCpuRatios(folder, modules.flat());
  console.log(`\n| Stubs | ${measured.map((source) => `\`${basename(source, '.ts')}\``).join(' | ')} |`);
  console.log(`| --- |${' --- |'.repeat(measured.length)}`);
  for (const [at, step] of steps.entries()) {
    const facets = await Promise.all(
      (modules[at] as string[]).map(async (module, nth) => {
        const ratio = ratios[at * measured.length + nth] as number;
        return `${await kilobytes(module)} KB, ${ratio.toFixed(2)}`;
      }),
    );
    console.log(`| ${step} | ${facets.join(' | ')} |`);
  }
}

/** Prints the peak of the memory of the function that runs executions, with the standard limit of steps and the highest. */
async function printMemory(folder: string): Promise<void> {
  const { standard, most } = numberSettings.executionSteps;
  console.log(`\nMemory of run-execution, which has ${consumers.runExecution.memoryMegabytes} MB:`);
  for (const steps of [standard, most]) {
    const peakMiB = await memoryOfRuns(folder, join(folder, 'functions', 'run-execution', 'index.mjs'), steps);
    console.log(`${peakMiB.toFixed(0).padStart(8)} MiB with ${steps} steps`);
  }
}

const kilobytes = async (file: string) => ((await stat(file)).size / 1000).toFixed(0);

const folder = await mkdtemp(join(tmpdir(), 'crewboard-bundles-'));
try {
  await printSizes(join(folder, 'functions'));
  await printStubs(folder);
  await printMemory(folder);
} finally {
  await rm(folder, { recursive: true, force: true });
}
