import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { createTemporaryFolder } from '../temporary-files.ts';

const folder = createTemporaryFolder();
const packageFolder = join(folder, 'node_modules/crewboard');

/** Runs the TypeScript compiler in a folder, and returns its output. */
async function compile(cwd: string, ...options: string[]): Promise<string> {
  const run = promisify(execFile)(process.execPath, [resolve('node_modules/typescript/bin/tsc'), ...options], { cwd });
  const { stdout } = await run.catch((error: { stdout: string }) => error);
  return stdout;
}

const write = (path: string, content: object) => writeFileSync(path, JSON.stringify(content));

/** Compiles the client to JavaScript and declarations, for browsers and with all checks of a new project. */
beforeAll(async () => {
  mkdirSync(packageFolder, { recursive: true });
  const compilerOptions = {
    target: 'es2022',
    lib: ['es2022', 'dom'],
    types: [],
    module: 'nodenext',
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    verbatimModuleSyntax: true,
    isolatedModules: true,
    declaration: true,
    rewriteRelativeImportExtensions: true,
    rootDir: resolve('lib/client'),
    outDir: packageFolder,
  };
  write(join(packageFolder, 'tsconfig.json'), { compilerOptions, files: [resolve('lib/client/index.ts')] });
  expect(await compile(packageFolder)).toBe('');
  write(join(packageFolder, 'package.json'), {
    name: 'crewboard',
    type: 'module',
    exports: { types: './index.d.ts', default: './index.js' },
  });

  const program = readFileSync('test/client/consumer.ts', 'utf8');
  write(join(folder, 'package.json'), { type: 'module' });
  writeFileSync(join(folder, 'index.ts'), program.replace('../../lib/client/index.ts', 'crewboard'));
  expect(await compile(folder, '--init')).toContain('Created');
});

describe('a program that uses the compiled client', () => {
  it.each([
    ['the options of a new project', []],
    ['the resolution of a bundler', ['--module', 'esnext', '--moduleResolution', 'bundler']],
    [
      'an old target',
      ['--target', 'es2017', '--lib', 'es2017,dom', '--module', 'esnext', '--moduleResolution', 'bundler'],
    ],
  ])('compiles with %s', async (_, options) => {
    expect(await compile(folder, '--noEmit', '--skipLibCheck', 'false', ...options)).toBe('');
  });

  it('runs when it is compiled', async () => {
    await compile(folder);
    const imported = `import { reach } from './index.js'; console.log(await reach('http://127.0.0.1:1'));`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', imported], {
      cwd: folder,
    });
    expect(stdout).toBe('no_response\n');
  });
});
