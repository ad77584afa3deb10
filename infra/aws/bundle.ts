import { cpSync, globSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join, resolve, sep } from 'node:path';
import { type BuildOptions, build, type Plugin } from 'esbuild';
import { readSkills } from '../../lib/agents/skill-catalogue.ts';

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

/** Modules that the SDK imports and no function needs, each with the file of its stub, which says why. */
export const stubs: Readonly<Record<string, string>> = {
  '@aws-sdk/credential-provider-node': stub('credentials'),
  '@aws-sdk/eventstream-handler-node': stub('event-streams'),
  '@aws-sdk/middleware-eventstream': stub('event-streams'),
  '@aws-sdk/middleware-websocket': stub('event-streams'),
  '@smithy/core/event-streams': stub('event-streams'),
  '@aws-sdk/token-providers': stub('tokens'),
  'node:http2': stub('http2'),
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

/** How functions are bundled: with the skills and the stubs. */
export const asFunctions = { ...forLambda, alias: stubs, plugins: [skills] } satisfies BuildOptions;

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

function stub(name: string): string {
  return join(import.meta.dirname, 'stubs', `${name}.ts`);
}
