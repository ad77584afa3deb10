import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

/** The folder of the script of another project that is part of the repository (docs/decisions/18). */
const folder = join(import.meta.dirname, '..', 'lib', 'http', 'docs', 'scalar');

/** What `SOURCE.md` says about the script: its package and version, its file in the package, and its SHA-256. */
export type VendoredSource = { release: string; file: string; sha256: string };

/** Reads what `SOURCE.md` says. */
export function readSource(text = readFileSync(join(folder, 'SOURCE.md'), 'utf8')): VendoredSource {
  const [, file = ''] = /`(dist\/\S+)`/.exec(text) ?? [];
  const [, release = ''] = /`(@?[\w/-]+@\d+\.\d+\.\d+)`/.exec(text) ?? [];
  const [, sha256 = ''] = /`([0-9a-f]{64})`/.exec(text) ?? [];
  return { release, file, sha256 };
}

/** Returns the SHA-256 of the script in the repository. */
export function vendoredSha256(): string {
  return sha256Of(gunzipSync(readFileSync(join(folder, 'standalone.js.gz'))));
}

/**
 * Returns the faults of the script in the repository: it is not what `SOURCE.md` says, or not what the registry has.
 *
 * @param released the SHA-256 of the file in the release of the registry
 */
export function faultsOf({ release, file, sha256 }: VendoredSource, vendored: string, released: string): string[] {
  return [
    ...(vendored === sha256 ? [] : [`The script has the SHA-256 ${vendored}, and SOURCE.md says ${sha256}.`]),
    ...(released === sha256
      ? []
      : [`${file} of ${release} in the registry has the SHA-256 ${released}, not ${sha256}.`]),
  ];
}

/** Downloads a release of a package, and returns the SHA-256 of one of its files. */
function releasedSha256({ release, file }: VendoredSource): string {
  const download = mkdtempSync(join(tmpdir(), 'crewboard-vendored-'));
  try {
    const [packed] = JSON.parse(run('npm', ['pack', '--json', '--pack-destination', download, release])) as [
      { filename: string },
    ];
    const archive = join(download, packed.filename.replace('@', '').replace('/', '-'));
    return sha256Of(run('tar', ['-xOzf', archive, `package/${file}`]));
  } finally {
    rmSync(download, { recursive: true, force: true });
  }
}

function run(program: string, args: string[]): string {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', maxBuffer: 256 * 1024 ** 2 });
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} failed: ${stderr}`);
  return stdout;
}

const sha256Of = (content: string | Buffer) => createHash('sha256').update(content).digest('hex');

/** `node scripts/check-vendored.ts`: compares the script with its release in the registry of npm. */
if (import.meta.main) {
  const source = readSource();
  const faults = faultsOf(source, vendoredSha256(), releasedSha256(source));
  for (const fault of faults) console.error(fault);
  if (faults.length > 0) process.exitCode = 1;
  else console.log(`The script is ${source.file} of ${source.release}.`);
}
