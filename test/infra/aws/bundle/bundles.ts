import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { bundleFunctions } from '../../../../infra/aws/bundle.ts';
import { json, startBedrock } from '../../../model/bedrock-server.ts';
import { createTemporaryFolder } from '../../../temporary-files.ts';
import { weightsOf } from './bundle-weights.ts';

const run = promisify(execFile);

/** Loads a bundle, and calls it if there is an event. The last line of the output has its exports or its answer. */
const driver = `
const [bundle, event] = process.argv.slice(2);
const exported = await import(bundle);
const context = { awsRequestId: 'r', functionName: 'f', getRemainingTimeInMillis: () => 29_000 };
const answer = event ? await exported.handler(JSON.parse(event), context) : Object.keys(exported);
process.stdout.write('\\n' + JSON.stringify(answer ?? null) + '\\n', () => process.exit());
`;

export type Answer = { statusCode: number; headers: Record<string, string>; body: string };

/** Bundles every function as for Lambda, and returns functions that run the bundles in a bare Node.js. */
export async function bundleAll() {
  // The folder is outside the repository, so that bundles cannot import from node_modules.
  const folder = createTemporaryFolder();
  const driverFile = join(folder, 'driver.mjs');
  await bundleFunctions(join(folder, 'functions'));
  await writeFile(driverFile, driver);
  const bundleOf = (source: string) => join(folder, 'functions', basename(source, '.ts'), 'index.mjs');

  /** Runs a bundle in its own Node.js process, with the environment of Lambda. */
  async function called(source: string, event?: unknown, more: Record<string, string> = {}): Promise<unknown> {
    const given = event === undefined ? [] : [JSON.stringify(event)];
    const { stdout } = await run(process.execPath, [driverFile, bundleOf(source), ...given], {
      cwd: folder,
      // The largest response is the renderer of the docs page.
      maxBuffer: 8 * 1024 * 1024,
      env: { AWS_REGION: 'eu-central-1', TABLE_NAME: 'table', NODE_OPTIONS: '--enable-source-maps', ...more },
    });
    return JSON.parse(stdout.trim().split('\n').at(-1) as string);
  }

  const metafile = await readFile(join(folder, 'functions', 'meta.json'), 'utf8');
  return {
    folder,
    bundleOf,
    weights: weightsOf(JSON.parse(metafile)),
    called,

    /** Calls a bundle with a table that has one answer for all requests, and returns the requests. */
    overTable: async (source: string, event: unknown, answer: object, status = 200) => {
      const table = await startBedrock();
      table.answer = json(answer, status, { 'Content-Type': 'application/x-amz-json-1.0' });
      const answered = await called(source, event, {
        ...{ AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE', AWS_SECRET_ACCESS_KEY: 'example' },
        ...{ AWS_SESSION_TOKEN: 'of this container', AWS_ENDPOINT_URL_DYNAMODB: table.endpoint },
      });
      const asked = table.received.map(({ headers }) => ({
        action: String(headers['x-amz-target']).split('.').at(-1),
        authorization: headers.authorization,
        session: headers['x-amz-security-token'],
      }));
      return { answered, asked };
    },
  };
}
