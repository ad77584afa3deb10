import { basename, join } from 'node:path';
import { gzipSync } from 'node:zlib';

/** The built console: its files, and the files that the page loads. */
export type ConsoleFiles = {
  /** The gzipped content of each file in base64, by its name, which has a hash of the content. */
  files: Readonly<Record<string, string>>;
  /** The script, the style sheet and the icon of the page, and the scripts that the script imports, also indirectly. */
  script: string;
  style: string;
  icon: string;
  imports: readonly string[];
};

const root = join(import.meta.dirname, '..', '..', '..');
const sources = {
  script: 'lib/console/main.tsx',
  style: 'lib/console/styles/console.css',
  icon: 'lib/console/icon.svg',
};

let built: Promise<ConsoleFiles> | undefined;

/** Builds the console once in a process, in about 0.3 s. A bundle of a function has the files as they were during bundling. */
export function readConsole(): Promise<ConsoleFiles> {
  built ??= buildConsole();
  return built;
}

async function buildConsole(): Promise<ConsoleFiles> {
  const { build } = await import('esbuild');
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: Object.values(sources),
    outdir: 'assets',
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    assetNames: '[name]-[hash]',
    bundle: true,
    splitting: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    // The first field names modules without code for old browsers. Only pragmatic-drag-and-drop has it.
    mainFields: ['module:es2019', 'browser', 'module', 'main'],
    jsx: 'automatic',
    loader: { '.svg': 'copy', '.woff2': 'file' },
    define: { 'process.env.NODE_ENV': '"production"' },
    legalComments: 'none',
    logLevel: 'silent',
    write: false,
    metafile: true,
  });
  const outputs = Object.entries(metafile.outputs);
  const nameOf = (entry: string) => basename(outputs.find(([, { inputs }]) => entry in inputs)?.[0] as string);
  const script = outputs.find(([, { entryPoint }]) => entryPoint === sources.script)?.[0] as string;
  const loaded = new Set([script]);
  for (const path of loaded)
    for (const { path: imported, kind } of metafile.outputs[path]?.imports ?? [])
      if (kind === 'import-statement') loaded.add(imported);
  return {
    files: Object.fromEntries(
      outputFiles.map(({ path, contents }) => [basename(path), gzipSync(contents, { level: 9 }).toString('base64')]),
    ),
    script: basename(script),
    style: nameOf(sources.style),
    icon: nameOf(sources.icon),
    imports: [...loaded].slice(1).map((path) => basename(path)),
  };
}
