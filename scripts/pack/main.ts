import { execFileSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { build, type Plugin } from 'esbuild';
import manifest from '../../package.json' with { type: 'json' };

/**
 * `npm run pack` builds the package `crewboard`: the client as JavaScript with its types, and the commands that call the API
 * as one file. Prints the path of the packed file. `--to` names the folder for it. The package is not published.
 */
const { values } = parseArgs({ options: { to: { type: 'string', default: '.build/package' } } });

/** The oldest Node.js that the package runs on. The tests run it there. */
const oldestNode = '20';

/** Leaves everything but the version out of the manifest of the repository, of which the program reads only the version. */
const versionOnly: Plugin = {
  name: 'version-only',
  setup: ({ onLoad }) =>
    onLoad({ filter: /[\\/]package\.json$/ }, () => ({
      contents: JSON.stringify({ version: manifest.version }),
      loader: 'json',
    })),
};

const target = resolve(values.to);
const content = join(target, 'content');
rmSync(content, { recursive: true, force: true });
mkdirSync(content, { recursive: true });

compileClient(join(content, 'client'));
const bundled = await bundleProgram(join(content, 'crewboard.js'));
writeFileSync(join(content, 'THIRD-PARTY-LICENSES.txt'), licensesOf(bundled));
cpSync('LICENSE', join(content, 'LICENSE'));
cpSync('scripts/pack/README.md', join(content, 'README.md'));
writeFileSync(join(content, 'package.json'), `${JSON.stringify(packageManifest(), null, 2)}\n`);
const packed = execFileSync('npm', ['pack', '--silent', '--pack-destination', target], {
  cwd: content,
  encoding: 'utf8',
  stdio: ['ignore', 'pipe', 'inherit'],
  // On Windows, npm is a batch file.
  shell: process.platform === 'win32',
});
console.log(join(target, packed.trim()));

function packageManifest() {
  const { name, version, license, type } = manifest;
  return {
    name,
    version,
    description:
      'The TypeScript client and the command line of Crewboard: AI agents, their task board, and signed webhooks.',
    license,
    type,
    exports: {
      '.': { types: './client/index.d.ts', default: './client/index.js' },
      './package.json': './package.json',
    },
    bin: { crewboard: 'crewboard.js' },
    sideEffects: false,
    engines: { node: `>=${oldestNode}` },
  };
}

/** Compiles the client to JavaScript and declarations in a folder. */
function compileClient(folder: string): void {
  const compiler = resolve('node_modules/typescript/bin/tsc');
  execFileSync(process.execPath, [compiler, '-p', 'scripts/pack', '--outDir', folder], { stdio: 'inherit' });
  // Declarations keep the imports of the sources, and the package has no sources.
  for (const file of globSync('*.d.ts', { cwd: folder })) {
    const text = readFileSync(join(folder, file), 'utf8');
    writeFileSync(join(folder, file), text.replaceAll(/(from '\.\/[\w-]+)\.ts'/g, "$1.js'"));
  }
}

/** Bundles the program into a file. Returns the names of the packages that it contains. */
async function bundleProgram(file: string): Promise<string[]> {
  const { metafile } = await build({
    entryPoints: ['infra/cli/api/main.ts'],
    outfile: file,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: `node${oldestNode}`,
    // Without comments, which name the paths of the repository. THIRD-PARTY-LICENSES.txt has the licenses.
    minifyWhitespace: true,
    // Otherwise modules that are loaded later have their paths as names.
    minifyIdentifiers: true,
    legalComments: 'none',
    metafile: true,
    plugins: [versionOnly],
  });
  const names = Object.keys(metafile.inputs).map((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1]);
  return [...new Set(names.filter((name) => name !== undefined))].sort();
}

/** Returns the licenses of packages, each below the name of its package. */
function licensesOf(names: readonly string[]): string {
  return names
    .map((name) => {
      const folder = join('node_modules', name);
      const [license] = readdirSync(folder).filter((file) => /^licen[cs]e/i.test(file));
      if (license === undefined) throw new Error(`The package ${name} has no license file; do not bundle it.`);
      return `${name}\n\n${readFileSync(join(folder, license), 'utf8').trim()}\n`;
    })
    .join('\n----\n\n');
}
