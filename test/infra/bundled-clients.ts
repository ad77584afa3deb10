import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { asFunctions } from '../../infra/aws/bundle.ts';

/** Bundles `clients.ts` as functions are, and loads it. */
export async function bundledClients(): Promise<typeof import('./clients.ts')> {
  const outfile = join(await mkdtemp(join(tmpdir(), 'crewboard-clients-')), 'clients.mjs');
  await build({ ...asFunctions, entryPoints: [join(import.meta.dirname, 'clients.ts')], outfile });
  return import(outfile);
}
