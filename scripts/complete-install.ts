import { spawnSync } from 'node:child_process';

/**
 * npm skips optional packages whose `engines` do not include the version of the system's Node, although all scripts of
 * this project run on the Node that it installs itself. If such a package is missing, install again with that Node.
 */
const packages = ['rolldown', 'oxc-parser'];

const present = await Promise.all(
  packages.map((name) =>
    import(name).then(
      () => true,
      () => false,
    ),
  ),
);
if (present.includes(false)) {
  console.log(`Packages for Node ${process.version} are missing; installing again with it.`);
  const npm = process.env.npm_execpath as string;
  const { status } = spawnSync(process.execPath, [npm, 'ci', '--no-audit', '--no-fund'], { stdio: 'inherit' });
  process.exit(status ?? 1);
}
