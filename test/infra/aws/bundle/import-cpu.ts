import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { forLambda } from '../../../../infra/aws/bundle.ts';

const run = promisify(execFile);

const rounds = 25;

/** Prints the CPU time of an import in milliseconds, in user and system mode together. */
const driver = `
const before = process.cpuUsage();
await import(process.argv[2]);
const { user, system } = process.cpuUsage(before);
console.log((user + system) / 1000);
process.exit();
`;

/** Bundles only the DynamoDB client, without stubs but otherwise with the options of functions. Returns its path. */
async function bundleBareClient(folder: string): Promise<string> {
  const outfile = join(folder, 'bare-client.mjs');
  const contents = "export { DynamoDBClient } from '@aws-sdk/client-dynamodb';";
  await build({ ...forLambda, stdin: { contents, resolveDir: resolve(import.meta.dirname, '../../../..') }, outfile });
  return outfile;
}

/**
 * Measures the CPU time of importing each module, as a ratio to importing the bare DynamoDB client. Every import runs in its
 * own process. Modules and client take turns, and the least time of each counts: other work on the machine only adds to it, by
 * misses of its caches. Medians differed by up to 0.2 from run to run.
 */
export async function importCpuRatios(folder: string, modules: readonly string[]): Promise<number[]> {
  const bareClient = await bundleBareClient(folder);
  const driverFile = join(folder, 'import-cpu.mjs');
  await writeFile(driverFile, driver);
  const importCpu = async (module: string) =>
    Number((await run(process.execPath, [driverFile, module], { env: { AWS_REGION: 'eu-central-1' } })).stdout);
  const all = [bareClient, ...modules];
  const least = all.map(() => Number.POSITIVE_INFINITY);
  for (let round = 0; round < rounds; round++)
    for (const [at, module] of all.entries()) least[at] = Math.min(least[at] as number, await importCpu(module));
  const [ofClient, ...ofModules] = least as [number, ...number[]];
  return ofModules.map((ofModule) => ofModule / ofClient);
}
