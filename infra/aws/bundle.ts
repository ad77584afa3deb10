import { cpSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, build, type Plugin } from 'esbuild';
import { readSkills } from '../../lib/agents/skill-catalogue.ts';
import { clientSchemas } from './client-schemas.ts';

const root = join(import.meta.dirname, '..', '..');

/** What reads a folder beside itself: that goes into the bundle of whoever reads it. */
const renderer = { reader: 'lib/http/docs-script.ts', folder: 'lib/http/scalar' };

/**
 * The skills are read and checked here instead of when a function starts, and stand in the bundles of those that read
 * them: none carries a parser of YAML, and a broken skill is not deployed.
 */
const skills: Plugin = {
  name: 'skills',
  setup: ({ onLoad }) =>
    onLoad({ filter: /[\\/]lib[\\/]agents[\\/]skill-catalogue\.ts$/ }, () => ({
      contents: `export const readSkills = () => ${JSON.stringify(readSkills())};`,
    })),
};

/** Of the description of its package each client of the SDK reads the version alone. */
const versions: Plugin = {
  name: 'versions',
  setup: ({ onLoad }) =>
    onLoad({ filter: /[\\/]@aws-sdk[\\/][\w-]+[\\/]package\.json$/ }, ({ path }) => {
      const { version } = JSON.parse(readFileSync(path, 'utf8'));
      return { contents: JSON.stringify({ version }), loader: 'json' };
    }),
};

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

/** Likewise single files of `@smithy`'s packages, which nobody imports but files beside them. */
const standInFiles: Record<string, string> = {
  HeaderFormatter: standIn('./stand-ins/event-streams.ts'),
  getInstanceMetadataRegion: standIn('./stand-ins/machine.ts'),
  loadSharedConfigFiles: standIn('./stand-ins/machine.ts'),
  'node-http2-handler': standIn('./stand-ins/http2.ts'),
};

const files: Plugin = {
  name: 'files',
  setup: ({ onResolve }) =>
    onResolve({ filter: new RegExp(`^\\..*/(${Object.keys(standInFiles).join('|')})$`) }, ({ path, importer }) =>
      /[\\/]@smithy[\\/]/.test(importer) ? { path: standInFiles[basename(path)] } : undefined,
    ),
};

/**
 * Pages of lists are read by what calls make when a module is loaded, which keeps them, and the commands that they send,
 * in bundles that read no pages.
 */
const paginators: Plugin = {
  name: 'paginators',
  setup: ({ onLoad }) =>
    onLoad({ filter: /[\\/]@aws-sdk[\\/][\w-]+[\\/]dist-es[\\/]pagination[\\/]\w+\.js$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replace('= createPaginator(', '= /* @__PURE__ */ createPaginator('),
    })),
};

/** How anything is bundled for Lambda's Node.js. */
export const forLambda = {
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
  logLevel: 'silent',
} as const satisfies BuildOptions;

/** How functions are: without what of the SDK none of them needs. */
export const asFunctions = {
  ...forLambda,
  alias: standIns,
  plugins: [skills, versions, clientSchemas, paginators, files],
} satisfies BuildOptions;

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
 * of esbuild that parses what they share once. What fills them is told by `<folder>/meta.json`, esbuild's metafile.
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
    ...asFunctions,
    metafile: true,
  });
  for (const { entryPoint = '', inputs } of Object.values(metafile.outputs))
    if (renderer.reader in inputs) {
      const beside = join(outdir, basename(entryPoint, '.ts'), basename(renderer.folder));
      cpSync(join(root, renderer.folder), beside, { recursive: true });
    }
  writeFileSync(join(outdir, 'meta.json'), JSON.stringify(metafile));
  return new Map(sources.map((source) => [source, join(outdir, basename(source, '.ts'))]));
}

function standIn(file: string): string {
  return fileURLToPath(import.meta.resolve(file));
}
