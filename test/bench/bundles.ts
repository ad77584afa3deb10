import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleFunctions } from '../../infra/aws/bundle.ts';
import { weightsOf } from '../infra/bundle-weights.ts';
import { importCpuRatios } from '../infra/import-cpu.ts';

/** What is less than this of a bundle is not worth a line, in bytes. */
const worthALine = 4_000;

const kilobytes = (bytes: number) => (bytes / 1000).toFixed(1).padStart(8);

const folder = await mkdtemp(join(tmpdir(), 'crewboard-bundles-'));
try {
  const bundles = await bundleFunctions(join(folder, 'functions'));
  const weights = weightsOf(JSON.parse(await readFile(join(folder, 'functions', 'meta.json'), 'utf8')));
  for (const [source, by] of weights) {
    const { size } = await stat(join(bundles.get(source) as string, 'index.mjs'));
    console.log(`\n${source}: ${kilobytes(size).trim()} KB`);
    for (const [origin, bytes] of by) if (bytes >= worthALine) console.log(`${kilobytes(bytes)}  ${origin}`);
  }
  const measured = [
    'functions/kanban-tasks/create-task.ts',
    'functions/webhooks/test-webhook.ts',
    'functions/pipeline/deliver-webhook.ts',
    'functions/pipeline/run-execution.ts',
    'functions/open/health.ts',
  ];
  const modules = measured.map((source) => join(bundles.get(source) as string, 'index.mjs'));
  const ratios = await importCpuRatios(folder, modules);
  console.log('\nCPU time of an import, as a ratio to the bare DynamoDB client:');
  for (const [at, ratio] of ratios.entries()) console.log(`${ratio.toFixed(2)}  ${measured[at]}`);
} finally {
  await rm(folder, { recursive: true, force: true });
}
