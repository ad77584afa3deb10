import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { forLambda } from '../../../../infra/aws/bundle.ts';

const run = promisify(execFile);

const rounds = 11;

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
 * own process. Each is compared with an import of the client right before it, and the result is the median of these
 * ratios, so that other load on the machine has little influence.
 */
export async function importCpuRatios(folder: string, modules: readonly string[]): Promise<number[]> {
  const bareClient = await bundleBareClient(folder);
  const driverFile = join(folder, 'import-cpu.mjs');
  await writeFile(driverFile, driver);
  const importCpu = async (module: string) =>
    Number((await run(process.execPath, [driverFile, module], { env: { AWS_REGION: 'eu-central-1' } })).stdout);
  const ratios = modules.map((): number[] => []);
  for (let round = 0; round < rounds; round++)
    for (const [at, module] of modules.entries()) {
      const ofClient = await importCpu(bareClient);
      ratios[at]?.push((await importCpu(module)) / ofClient);
    }
  return ratios.map((ofModule) => ofModule.sort((a, b) => a - b)[(rounds - 1) / 2] as number);
}
