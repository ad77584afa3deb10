import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { createTemporaryFolder } from '../temporary-files.ts';

/** Returns the text of a file that imports `thing` from a module and uses it. */
export function importing(source: string): string {
  return `import { thing } from '${source}';\nexport const other = thing;\n`;
}

/**
 * Writes files to a new folder and lints them with one rule, as the project's `biome.json` sets it.
 *
 * @param files the path and the text of each file
 * @returns the paths of the files in which the rule finds an error
 */
export function filesThatFail(rule: string, files: readonly (readonly [path: string, text: string])[]): Set<string> {
  const folder = createTemporaryFolder();
  const { vcs, ...config } = JSON.parse(readFileSync('biome.json', 'utf8')) as { vcs: unknown };
  writeFileSync(join(folder, 'biome.json'), JSON.stringify({ ...config, vcs: { enabled: false } }));
  copyFileSync('package.json', join(folder, 'package.json'));
  for (const [path, text] of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return new Set(
    [...lint(folder, rule).matchAll(/^::error title=[^,]+,file=([^,]+)/gm)].map(([, path]) =>
      relative(folder, path as string),
    ),
  );
}

function lint(folder: string, rule: string): string {
  const biome = join(process.cwd(), 'node_modules/.bin/biome');
  const args = ['lint', `--only=${rule}`, '--reporter=github', '--max-diagnostics=none'];
  try {
    return execFileSync(biome, args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  } catch (error) {
    return (error as { stdout: string }).stdout;
  }
}
