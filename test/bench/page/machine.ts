import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { arch, cpus, loadavg, platform, release, totalmem } from 'node:os';
import { figure } from './figures.ts';

/** Returns the machine, the versions and the time. */
export function circumstances(): Record<string, string> {
  const cores = cpus();
  const commit = git('describe', '--always', '--dirty');
  return {
    Date: `${new Date().toISOString().slice(0, 16).replace('T', ' ')} UTC`,
    CPU: `${cores[0]?.model.trim()}, ${cores.length} cores`,
    Memory: `${figure(totalmem() / 2 ** 30, 1)} GiB`,
    System: `${systemName()}, ${platform()} ${release()} ${arch()}`,
    'Load before the start': `${figure(loadavg()[0] ?? 0, 2)} (mean of a minute)`,
    Crewboard: `${ownVersion()}${commit && `, commit ${commit}`}`,
    'Node.js': process.version,
    SQLite: process.versions.sqlite as string,
  };
}

function ownVersion(): string {
  return (JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }).version;
}

function systemName(): string {
  return /^PRETTY_NAME="(.*)"$/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1] ?? 'Linux';
}

/** Returns the output of git for the checkout; nothing where there is no git, as in an unpacked archive. */
function git(...args: string[]): string {
  try {
    return execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return '';
  }
}
