import { type ChildProcessByStdio, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { createTemporaryFolder } from '../../temporary-files.ts';
import { blocksOf } from './receivers-page.ts';

const patienceMs = 60_000;

/** A language of a receiver on the page, with the commands that build and run a program in a folder. */
export type Language = Record<'name' | 'block' | 'file', string> & { probe: string[]; build?: string[]; run: string[] };

const node = process.execPath;
export const languages: Language[] = [
  {
    ...{ name: 'Node.js', block: 'js', file: 'receiver.mjs' },
    ...{ probe: [node, '--version'], run: [node, 'receiver.mjs'] },
  },
  {
    ...{ name: 'Python', block: 'python', file: 'receiver.py' },
    // Isolated and without site packages: only the standard library is available.
    ...{ probe: ['python3', '--version'], run: ['python3', '-I', '-S', 'receiver.py'] },
  },
  {
    ...{ name: 'Go', block: 'go', file: 'receiver.go', probe: ['go', 'version'] },
    ...{ build: ['go', 'build', '-o', 'receiver', 'receiver.go'], run: ['./receiver'] },
  },
];

/** The environment in which Go builds without a module and without the network. */
const offline = { GO111MODULE: 'auto', GOFLAGS: '-mod=mod', GOPROXY: 'off', GOTOOLCHAIN: 'local' };

/** Returns why programs of a language cannot run on this machine, or `undefined`. */
export function whyMissing({ name, probe: [command = '', ...args] }: Language): string | undefined {
  return spawnSync(command, args).status === 0 ? undefined : `${name} is not on this machine: no ${command}.`;
}

/** Starts a program of the page with the secret of a webhook. */
export type Program = (secret: string) => Started;

export type Started = {
  /** Waits for the first line that contains a text. */
  line: (text: string) => Promise<string>;
  lines: string[];
  complaint: () => string;
  ended: Promise<{ code: number | null; complaint: string }>;
  stop: () => Promise<void>;
};

/**
 * Takes the program in a language from the page, and builds it where that has to be done.
 *
 * @throws Error if the page has not exactly one, or if it does not build
 */
export function programIn({ name, block, file, build, run }: Language): Program {
  const [source, ...others] = blocksOf(block);
  if (source === undefined || others.length > 0) throw new Error(`The page has not one program in ${name}.`);
  const cwd = createTemporaryFolder();
  writeFileSync(join(cwd, file), source);
  const [builder, ...arguments_] = build ?? [];
  if (builder) execFileSync(builder, arguments_, { cwd, env: { ...process.env, ...offline } });
  return (secret) => startReceiver(run, { WEBHOOK_SECRET: secret }, cwd);
}

/** Starts a receiver on a free port, with variables that are added to the environment of this process. */
export function startReceiver(
  [command = '', ...args]: string[],
  environment: Record<string, string>,
  cwd = '.',
): Started {
  const env = { ...process.env, PORT: '0', ...environment };
  return watched(spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] }));
}

function watched(child: ChildProcessByStdio<null, Readable, Readable>): Started {
  const lines: string[] = [];
  const reader = createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
  let complaint = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint += text;
  });
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, complaint }));
  return {
    lines,
    complaint: () => complaint,
    ended,
    line: async (text) => {
      const late = AbortSignal.timeout(patienceMs);
      for (;;) {
        const found = lines.find((line) => line.includes(text));
        if (found !== undefined) return found;
        await once(reader, 'line', { signal: late });
      }
    },
    stop: async () => {
      child.kill();
      await ended;
    },
  };
}
