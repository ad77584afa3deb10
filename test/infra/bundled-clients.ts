import { join } from 'node:path';
import { build } from 'esbuild';
import { asFunctions } from '../../infra/aws/bundle.ts';
import { createTemporaryFolder } from '../temporary-files.ts';

/** Bundles `clients.ts` as functions are, and loads it. */
export async function bundledClients(): Promise<typeof import('./clients.ts')> {
  const outfile = join(createTemporaryFolder(), 'clients.mjs');
  await build({ ...asFunctions, entryPoints: [join(import.meta.dirname, 'clients.ts')], outfile });
  return import(outfile);
}
