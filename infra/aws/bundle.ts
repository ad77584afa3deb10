import { cpSync, globSync, rmSync } from 'node:fs';
import { basename, join, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = join(import.meta.dirname, '..', '..');

/** What reads files beside itself, and the folder of these: they go into each bundle that it goes into. */
const besides = [
  { reader: 'lib/agents/skill-catalogue.ts', folder: 'lib/agents/skills' },
  { reader: 'lib/http/docs-script.ts', folder: 'lib/http/scalar' },
];

/** What of the SDK no function ever needs, by what stands in for it: each says what that is, and why. */
const standIns = {
  '@aws-sdk/credential-provider-node': standIn('./stand-ins/credentials.ts'),
  '@aws-sdk/endpoint-cache': standIn('./stand-ins/endpoint-cache.ts'),
  '@aws-sdk/eventstream-handler-node': standIn('./stand-ins/event-streams.ts'),
  '@aws-sdk/middleware-eventstream': standIn('./stand-ins/event-streams.ts'),
  '@aws-sdk/middleware-websocket': standIn('./stand-ins/event-streams.ts'),
  '@aws-sdk/token-providers': standIn('./stand-ins/tokens.ts'),
  '@smithy/core/checksum': standIn('./stand-ins/checksums.ts'),
  '@smithy/core/event-streams': standIn('./stand-ins/event-streams.ts'),
};

/** The bundled functions: the folder of each, by its source below the repository's root. */
export type Bundles = ReadonlyMap<string, string>;

/** The source of every function there is, as `functions/<family>/<file>.ts`. */
export function functionSources(): string[] {
  return globSync('functions/*/*.ts', { cwd: root })
    .map((source) => source.replaceAll(sep, '/'))
    .sort();
}

/**
 * Bundles every function, each with all that it imports, into `<folder>/<file name>/index.mjs`, by a single call
 * of esbuild that parses what they share once.
 *
 * @param folder where to, relative to the repository's root; what it held is gone afterwards
 * @throws esbuild's `BuildFailure` for what does not resolve or parse, and for two functions of one file name
 */
export async function bundleFunctions(folder: string): Promise<Bundles> {
  const outdir = resolve(root, folder);
  rmSync(outdir, { recursive: true, force: true });
  const sources = functionSources();
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: sources.map((source) => ({ in: source, out: `${basename(source, '.ts')}/index` })),
    outdir,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    mainFields: ['module', 'main'],
    minify: true,
    legalComments: 'none',
    sourcemap: 'linked',
    // Names and lines are what a stack trace needs; the sources themselves would be most of what is uploaded.
    sourcesContent: false,
    alias: standIns,
    logLevel: 'silent',
    metafile: true,
  });
  for (const { entryPoint = '', inputs } of Object.values(metafile.outputs))
    for (const { reader, folder } of besides)
      if (reader in inputs)
        cpSync(join(root, folder), join(outdir, basename(entryPoint, '.ts'), basename(folder)), { recursive: true });
  return new Map(sources.map((source) => [source, join(outdir, basename(source, '.ts'))]));
}

function standIn(file: string): string {
  return fileURLToPath(import.meta.resolve(file));
}
