import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

/** The linter of GitHub's workflows, which Go downloads and compiles at its first run. */
const actionlint = 'github.com/rhysd/actionlint/cmd/actionlint@v1.7.12';

/** Without the linters of shell and Python code, which are on some machines only. */
const options = ['-oneline', '-no-color', '-shellcheck=', '-pyflakes='];

const folder = '.github/workflows';
const workflows = readdirSync(folder).map((name) => join(folder, name));

/** Go may be missing, or may not reach its module proxy. */
const isAvailable = spawnSync('go', ['run', actionlint, '-version']).status === 0;

it.skipIf(!isAvailable)('actionlint, which needs Go and its module proxy, finds no error in the workflows', () => {
  const args = ['run', actionlint, ...options, ...workflows];
  const { status, stdout, stderr } = spawnSync('go', args, { encoding: 'utf8' });
  expect([status, stdout, stderr]).toEqual([0, '', '']);
});

it('workflows pin each action to a commit, with its version as a comment', () => {
  const uses = workflows.flatMap((file) => readFileSync(file, 'utf8').match(/uses: .*/g) ?? []);
  expect(uses).not.toEqual([]);
  for (const use of uses) expect(use).toMatch(/^uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
});
