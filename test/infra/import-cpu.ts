import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { forLambda } from '../../infra/aws/bundle.ts';

const run = promisify(execFile);

/** Prints the milliseconds of processor that an import takes, in user and system mode together. */
const driver = `
const before = process.cpuUsage();
await import(process.argv[2]);
const { user, system } = process.cpuUsage(before);
console.log((user + system) / 1000);
process.exit();
`;

/** Milliseconds of processor: the median, and the least and most. */
export type Cpu = { median: number; least: number; most: number };

/**
 * Bundles DynamoDB's client as it comes, alone and without stand-ins, and otherwise as the functions are.
 *
 * @returns the bundle's path
 */
export async function bundleBareClient(folder: string): Promise<string> {
  const outfile = join(folder, 'bare-client.mjs');
  const contents = "export { DynamoDBClient } from '@aws-sdk/client-dynamodb';";
  await build({ ...forLambda, stdin: { contents, resolveDir: resolve(import.meta.dirname, '../..') }, outfile });
  return outfile;
}

/**
 * What importing each of several modules costs, each time in a Node.js of its own. They take turns, so that a machine
 * which is busy for a while is so for all of them; it is their ratio that is steady.
 */
export async function importCpu(folder: string, modules: readonly string[], rounds: number): Promise<Cpu[]> {
  const driverFile = join(folder, 'import-cpu.mjs');
  await writeFile(driverFile, driver);
  const taken: number[][] = modules.map(() => []);
  for (let round = 0; round < rounds; round++)
    for (const [at, module] of modules.entries()) {
      const { stdout } = await run(process.execPath, [driverFile, module], { env: { AWS_REGION: 'eu-central-1' } });
      taken[at]?.push(Number(stdout));
    }
  return taken.map((times) => {
    const sorted = times.sort((a, b) => a - b);
    const at = (index: number) => sorted.at(index) as number;
    return { median: at(Math.floor(sorted.length / 2)), least: at(0), most: at(-1) };
  });
}
