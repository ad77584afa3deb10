import { cpSync, globSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join, resolve, sep } from 'node:path';
import { type BuildOptions, build, type Plugin } from 'esbuild';
import { readSkills } from '../../lib/agents/skill-catalogue.ts';
import { readConsole } from '../../lib/http/console/console-files.ts';
import { readGuides } from '../../lib/http/docs/guides.ts';
import { readTools } from '../../lib/tools/tool-list.ts';
import { sdkParts, stubFile } from './bundle-sdk.ts';

const root = join(import.meta.dirname, '..', '..');

/** A module that reads a folder at run time. The folder is copied beside the bundle of each function with this module. */
const renderer = { reader: 'lib/http/docs/docs-script.ts', folder: 'lib/http/docs/scalar' };

/**
 * Reads and validates the skills during bundling, and puts them into the bundles of the functions that use them. So no
 * bundle contains a YAML parser, and an invalid skill is not deployed.
 */
const skills: Plugin = {
  name: 'skills',
  setup: ({ onLoad }) =>
    onLoad({ filter: /[\\/]lib[\\/]agents[\\/]skill-catalogue\.ts$/ }, () => ({
      contents: `export const readSkills = () => ${JSON.stringify(readSkills())};`,
    })),
};

/** Reads the guides during bundling, and puts them into the bundle of the function that serves the documentation page. */
const guides: Plugin = {
  name: 'guides',
  setup: ({ onLoad }) =>
    onLoad({ filter: /[\\/]lib[\\/]http[\\/]docs[\\/]guides\.ts$/ }, () => ({
      contents: `export const readGuides = () => ${JSON.stringify(readGuides())};`,
    })),
};

/**
 * Derives the tools from the contract during bundling, and puts them into the bundles of the functions that use them. So no
 * bundle contains the words of all endpoints and the conversion to JSON Schema.
 */
const tools: Plugin = {
  name: 'tools',
  setup: ({ onLoad }) =>
    onLoad({ filter: /[\\/]lib[\\/]tools[\\/]tool-list\.ts$/ }, () => ({
      contents: `export const readTools = () => (${JSON.stringify(readTools())});`,
    })),
};

/** Builds the console during bundling, and puts its files into the bundles of the functions that serve it. */
const consoleFiles: Plugin = {
  name: 'console',
  setup: ({ onLoad }) =>
    onLoad({ filter: /[\\/]lib[\\/]http[\\/]console[\\/]console-files\.ts$/ }, async () => ({
      contents: `const files = ${JSON.stringify(await readConsole())};\nexport const readConsole = async () => files;`,
    })),
};

/** Modules that the SDKs import and no function needs, each with the file of its stub, which states the reason. */
export const stubs: Readonly<Record<string, string>> = {
  '@aws-sdk/credential-provider-node': stubFile('credentials'),
  '@aws-sdk/eventstream-handler-node': stubFile('event-streams'),
  '@aws-sdk/middleware-eventstream': stubFile('event-streams'),
  '@aws-sdk/middleware-websocket': stubFile('event-streams'),
  '@smithy/core/event-streams': stubFile('event-streams'),
  '@aws-sdk/token-providers': stubFile('tokens'),
  '@aws-sdk/middleware-endpoint-discovery': stubFile('endpoint-discovery'),
  'node:http2': stubFile('http2'),
  'node:process': stubFile('process'),
  '@modelcontextprotocol/server/_shims': stubFile('json-schema-validator'),
};

/** The options of esbuild for Lambda's Node.js. */
export const forLambda = {
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node24',
  mainFields: ['module', 'main'],
  minify: true,
  legalComments: 'none',
  sourcemap: 'linked',
  // A stack trace needs names and lines only. The sources would be most of the uploaded bytes.
  sourcesContent: false,
  logLevel: 'silent',
} as const satisfies BuildOptions;

/** The options of esbuild for functions, with the skills, the guides, the tools, the console and the stubs. */
export const asFunctions = {
  ...forLambda,
  alias: stubs,
  plugins: [skills, guides, tools, consoleFiles, ...sdkParts],
} satisfies BuildOptions;

/** The folder of each bundled function, by the path of its source from the repository's root. */
export type Bundles = ReadonlyMap<string, string>;

/** Returns the source of every function, as `functions/<folder>/<file>.ts`. */
export function functionSources(): string[] {
  return globSync('functions/*/*.ts', { cwd: root })
    .map((source) => source.replaceAll(sep, '/'))
    .sort();
}

/**
 * Bundles every function with its imports into `<folder>/<file name>/index.mjs`. A single call of esbuild parses shared
 * modules once. Writes esbuild's metafile, which lists the content of each bundle, to `<folder>/meta.json`.
 *
 * @param folder the target folder, relative to the repository's root; its previous content is deleted
 * @throws esbuild's `BuildFailure` if an import does not resolve or parse, or if two functions have the same file name
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
