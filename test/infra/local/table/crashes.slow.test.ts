import { execFileSync, spawn } from 'node:child_process';
import { copyFileSync, existsSync, readFileSync, truncateSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { paginateScan } from '@aws-sdk/lib-dynamodb';
import { expect, it } from 'vitest';
import { type LocalTable, openLocalTable } from '../../../../infra/local/table/local-table.ts';
import { testSeed } from '../../../seeded.ts';
import { randomFrom } from '../../../soak/random.ts';
import { newFile, tableName } from './test-table.ts';

const program = new URL('./writing-child.ts', import.meta.url).pathname;

/** Starts a process that writes to a file. `answered` grows with each answered write. */
function startWriting(path: string, first: number) {
  const child = spawn(process.execPath, [program, path, String(first)], { stdio: ['ignore', 'pipe', 'inherit'] });
  const answered: number[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => answered.push(Number(line)));
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  return { child, answered, ended };
}

/** Returns the numbers of the writes in a partition, of the recorded changes, and the counter of the transactions. */
async function contentOf(local: LocalTable) {
  const numbers: Record<string, Set<number>> = { single: new Set(), left: new Set(), right: new Set() };
  let counter = 0;
  for await (const { Items = [] } of paginateScan({ client: local.table.client }, { TableName: tableName }))
    for (const { pk, sk, n } of Items) {
      if (pk === 'counter') counter = n;
      else numbers[pk as string]?.add(Number(sk));
    }
  const changed = new Set<string>();
  for (const { dynamodb } of local.changes.after(undefined, 1_000_000))
    changed.add(`${dynamodb?.Keys?.pk?.S} ${dynamodb?.Keys?.sk?.S}`);
  return { numbers, counter, changed };
}

/** Checks that a file has all answered writes with their changes, and each transaction as a whole. */
async function expectAll(path: string, answered: readonly number[]): Promise<void> {
  const local = openLocalTable({ path, tableName, kinds: ['task'], inThread: false });
  const { numbers, counter, changed } = await contentOf(local);
  await local.close();
  const { single = new Set(), left = new Set(), right = new Set() } = numbers;
  expect(answered.filter((n) => !(n % 2 === 0 ? single : left).has(n))).toEqual([]);
  expect([left, counter]).toEqual([right, left.size]);
  const written = Object.entries(numbers).flatMap(([pk, all]) => [...all].map((n) => `${pk} ${n}`));
  expect(changed).toEqual(new Set(written));
}

const random = randomFrom(testSeed);

it(`a killed process loses no answered write and leaves no half transaction (seed ${testSeed})`, async () => {
  const path = newFile();
  const answered: number[] = [];
  let first = 0;
  for (let kill = 0; kill < 8; kill++) {
    const writing = startWriting(path, first);
    const enough = 1 + Math.floor(random() * 400);
    while (writing.answered.length < enough) await pause(1);
    writing.child.kill('SIGKILL');
    await writing.ended;
    answered.push(...writing.answered);
    await expectAll(path, answered);
    first = Math.max(...answered) + 100;
  }
});

/** Stops a process, so that its files stay as they are, and returns a function that lets it go on. */
async function paused({ pid, kill }: { pid: number; kill: (signal: NodeJS.Signals) => void }): Promise<() => void> {
  kill('SIGSTOP');
  const state = () => execFileSync('ps', ['-o', 'state=', '-p', String(pid)], { encoding: 'utf8' });
  while (!state().startsWith('T')) await pause(1);
  return () => kill('SIGCONT');
}

/** The log of a database: which one it is since its last restart, and how many frames of which size it has. */
type Log = { salt: string; frames: number; frameSize: number };

const logHeader = 32;
const frameHeader = 24;

/** How many frames the log has when SQLite begins to move its pages to the database (`wal_autocheckpoint`). */
const checkpointFrames = 1000;

/** Reads a log by the format of SQLite: a frame belongs to the log if it has the salt of its header. */
function readLog(path: string): Log {
  const bytes = existsSync(path) ? readFileSync(path) : Buffer.alloc(0);
  if (bytes.length < logHeader) return { salt: '', frames: 0, frameSize: 1 };
  const salt = bytes.toString('hex', 16, 24);
  const frameSize = frameHeader + bytes.readUInt32BE(8);
  let frames = 0;
  const start = () => logHeader + frames * frameSize;
  while (start() + frameSize <= bytes.length && bytes.toString('hex', start() + 8, start() + 16) === salt) frames += 1;
  return { salt, frames, frameSize };
}

/*
 * A power cut leaves all that was flushed, and any part of the rest. All frames of answered writes were flushed, or have moved
 * to the database before the log was restarted. So a copy whose log is cut anywhere after these frames is what it may leave,
 * unless pages of the log are being moved to the database: all of its frames were flushed before that.
 */
it(`a power cut loses no answered write and leaves no half transaction (seed ${testSeed})`, async () => {
  const path = newFile();
  const { child, answered, ended } = startWriting(path, 0);
  const writer = { pid: child.pid as number, kill: (signal: NodeJS.Signals) => void child.kill(signal) };
  let cutFrames = 0;
  for (let cut = 0; cut < 12; cut++) {
    const enough = answered.length + 1 + Math.floor(random() * 100);
    while (answered.length < enough) await pause(1);
    const goOn = await paused(writer);
    const before = [...answered];
    const flushed = readLog(`${path}-wal`);
    goOn();
    const later = before.length + 1 + Math.floor(random() * 100);
    while (answered.length < later) await pause(1);
    const copy = newFile();
    const goOnAgain = await paused(writer);
    for (const end of ['', '-wal']) copyFileSync(path + end, copy + end);
    goOnAgain();
    const log = readLog(`${copy}-wal`);
    const answeredFrames = log.salt === flushed.salt ? flushed.frames : 0;
    const kept = log.frames < checkpointFrames ? answeredFrames : log.frames;
    const length = (kept + random() * (log.frames - kept)) * log.frameSize;
    truncateSync(`${copy}-wal`, logHeader + Math.floor(length));
    cutFrames += log.frames - kept;
    await expectAll(copy, before);
  }
  child.kill('SIGKILL');
  await ended;
  // Else the test has cut nothing.
  expect(cutFrames).toBeGreaterThan(0);
});
