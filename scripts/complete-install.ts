import { spawnSync } from 'node:child_process';

/**
 * npm leaves out optional packages whose `engines` the machine's own Node does not meet, though every script here runs
 * on the Node that was installed with the project. Where such a part is missing, this installs once more, by that Node.
 */
const parts = ['rolldown', 'oxc-parser'];

const present = await Promise.all(
  parts.map((part) =>
    import(part).then(
      () => true,
      () => false,
    ),
  ),
);
if (present.includes(false)) {
  console.log(`Parts for Node ${process.version} are missing; installing once more with it.`);
  const npm = process.env.npm_execpath as string;
  const { status } = spawnSync(process.execPath, [npm, 'ci', '--no-audit', '--no-fund'], { stdio: 'inherit' });
  process.exit(status ?? 1);
}
