import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createTemporaryFolder } from '../temporary-files.ts';

/** The linter of GitHub's workflows, which Go downloads and compiles at its first run. */
const actionlint = 'github.com/rhysd/actionlint/cmd/actionlint@v1.7.12';

/** Without the linters of shell and Python code, which are on some machines only. */
const options = ['-oneline', '-no-color', '-shellcheck=', '-pyflakes='];

const folder = '.github/workflows';
const workflows = readdirSync(folder).map((name) => join(folder, name));

/** Go may be missing, or may not reach its module proxy. */
const isAvailable = spawnSync('go', ['run', actionlint, '-version']).status === 0;

/** Returns the errors of workflow files, one on each line. */
function errorsOf(...files: string[]): string {
  const { status, stdout, stderr } = spawnSync('go', ['run', actionlint, ...options, ...files], { encoding: 'utf8' });
  if (status !== 0 && stdout === '') throw new Error(`actionlint did not run:\n${stderr}`);
  return stdout;
}

/** Writes a copy of a workflow with one change, and returns its path. */
function changed(file: string, from: string, to: string): string {
  const text = readFileSync(file, 'utf8');
  expect(text).toContain(from);
  const copy = join(createTemporaryFolder(), 'workflow.yml');
  writeFileSync(copy, text.replace(from, to));
  return copy;
}

describe.skipIf(!isAvailable)('actionlint, which needs Go and its module proxy,', () => {
  it('finds no error in the workflows of the repository', () => {
    expect(errorsOf(...workflows)).toBe('');
  });

  it.each([
    ['an unknown key', 'runs-on:', 'run-on:', 'unexpected key "run-on"'],
    ['an unknown property of a context', 'github.ref', 'github.reff', 'property "reff" is not defined'],
    ['an unknown scope of the permissions', 'contents: read', 'content: read', 'unknown permission scope "content"'],
  ])('finds %s', (_, from, to, error) => {
    expect(errorsOf(changed(join(folder, 'ci.yml'), from, to))).toContain(error);
  });
});

it('workflows pin each action to a commit, with its version as a comment', () => {
  const uses = workflows.flatMap((file) => readFileSync(file, 'utf8').match(/uses: .*/g) ?? []);
  expect(uses).not.toEqual([]);
  for (const use of uses) expect(use).toMatch(/^uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
});
