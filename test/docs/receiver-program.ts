import { type ChildProcessByStdio, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { createTemporaryFolder } from '../temporary-files.ts';
import { blocksOf } from './receivers-page.ts';

/** How long a program may take to say something. */
const patienceMs = 60_000;

/** A language that the page has a receiver in: how a program of it is made and run, each as a command in a folder. */
export type Language = {
  name: string;
  block: string;
  file: string;
  probe: string[];
  build?: string[];
  run: string[];
};

export const languages: Language[] = [
  {
    name: 'Node.js',
    block: 'js',
    file: 'receiver.mjs',
    probe: [process.execPath, '--version'],
    run: [process.execPath, 'receiver.mjs'],
  },
  {
    name: 'Python',
    block: 'python',
    file: 'receiver.py',
    probe: ['python3', '--version'],
    // Isolated and without site packages: the standard library is all there is.
    run: ['python3', '-I', '-S', 'receiver.py'],
  },
  {
    name: 'Go',
    block: 'go',
    file: 'receiver.go',
    probe: ['go', 'version'],
    build: ['go', 'build', '-o', 'receiver', 'receiver.go'],
    run: ['./receiver'],
  },
];

/** What Go needs to build without a module and without the network. */
const offline = { GO111MODULE: 'auto', GOFLAGS: '-mod=mod', GOPROXY: 'off', GOTOOLCHAIN: 'local' };

/** Why programs of a language cannot be run on this machine, or `undefined`. */
export function whyMissing({ name, probe: [command = '', ...args] }: Language): string | undefined {
  return spawnSync(command, args).status === 0 ? undefined : `${name} is not on this machine: no ${command}.`;
}

/** Starts a program of the page with the secret of a webhook. */
export type Program = (secret: string) => Started;

/** A program that was started. */
export type Started = {
  /** Its first line that has a text in it, waited for. */
  line: (text: string) => Promise<string>;
  /** All that it has printed so far. */
  lines: string[];
  /** All that it has complained of so far. */
  complaint: () => string;
  /** Its exit code and what it complained of, once it has ended. */
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

/** Starts a receiver on a free port: a command in a folder, with an environment beside this process's own. */
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
