import { join } from 'node:path';
import { Problem } from '../../../infra/problem.ts';
import { runToEnd } from '../../processes/python.ts';

/** The last commit of the latest release, version 0.2.0. It is deployed before these sources unless another commit is named. */
export const latestRelease = '7de8d10f6dbe363309c03fade152058431a2efe7';

const root = join(import.meta.dirname, '..', '..', '..');

/** Returns whether this clone has a commit. A shallow clone does not have all, and a folder without git has none. */
export async function hasCommit(commit: string): Promise<boolean> {
  return (await runToEnd('git', ['-C', root, 'cat-file', '-e', `${commit}^{commit}`])).code === 0;
}

/**
 * Writes the sources of a commit into an empty folder, and installs their packages.
 *
 * @throws `Problem` if that fails, with the output of the program
 */
export async function installCommit(commit: string, folder: string): Promise<void> {
  const archive = join(folder, 'sources.tar');
  await run('git', ['-C', root, 'archive', '--output', archive, commit]);
  await run('tar', ['-x', '-f', archive, '-C', folder]);
  await run('npm', ['ci', '--prefix', folder, '--no-audit', '--no-fund']);
}

async function run(program: string, args: string[]): Promise<void> {
  // npm leaves out packages that do not fit its own Node.js. The first `node` on the path runs it.
  const environment = { ...process.env, PATH: `${join(process.execPath, '..')}:${process.env.PATH}` };
  const { code, output } = await runToEnd(program, args, environment);
  if (code !== 0) throw new Problem(`${program} ${args.join(' ')} ended with ${code}:\n${output}`);
}
