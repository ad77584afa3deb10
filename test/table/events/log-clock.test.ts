import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { type Context, createContext } from '../../../lib/context/context.ts';
import { timeOf, ulidFrom } from '../../../lib/contract/ids.ts';
import { keys } from '../../../lib/table/access/keys.ts';
import { transact } from '../../../lib/table/access/transact.ts';
import { appendEvent } from '../../../lib/table/events/event-log.ts';
import { logTime } from '../../../lib/table/events/log-clock.ts';
import { logTimeOf, storeStepsBeforeWrites } from '../../../lib/table/events/log-times.ts';
import { type Clock, clockAt } from '../../service.ts';
import { createTestTable, newOrganization } from '../tasks/test-table.ts';

const { table } = await createTestTable();
const opening = Date.parse('2026-03-01T12:00:00.000Z');
let machineClock: Clock;
let monotonic: Clock;
let organization: ReturnType<typeof newOrganization>;

beforeEach(async () => {
  await transact(table, [{ Delete: { Key: keys.logClock() } }]);
  machineClock = clockAt(opening);
  monotonic = clockAt(1_000);
  organization = newOrganization();
});

/** Starts the process of one machine, which remembers nothing of earlier ones. */
function start(): Context {
  const context = createContext({ environment: {}, clock: machineClock, monotonic, ownsLogs: true, table });
  storeStepsBeforeWrites(context);
  return context;
}

function step(ms: number): void {
  machineClock.now += ms;
}

function pass(ms: number): void {
  machineClock.now += ms;
  monotonic.now += ms;
}

describe('a change after a step back', () => {
  it('has its own time, even if the clock is set back again before the log is used', async () => {
    const machine = start();
    pass(20);
    const before = await logTimeOf(machine, organization, machine.clock());
    step(-5_000);
    const stamp = machine.clock();
    step(-5_000);
    pass(10);
    expect(await logTimeOf(machine, organization, stamp)).toBeGreaterThanOrEqual(before);
  });

  it('has its own time, even if its time stamp is that of an id', async () => {
    const machine = start();
    pass(20);
    const before = await logTimeOf(machine, organization, machine.clock());
    step(-5_000);
    const stamp = timeOf(machine.ulid());
    step(-5_000);
    expect(await logTimeOf(machine, organization, stamp)).toBeGreaterThanOrEqual(before);
  });

  it('keeps its time if it is published after many further steps', async () => {
    const machine = start();
    pass(20);
    step(-5_000);
    const stamp = machine.clock();
    const own = await logTimeOf(machine, organization, stamp);
    for (let nth = 0; nth < 500; nth++) {
      pass(30_000);
      step(nth % 2 === 0 ? 4_000 : -4_000);
      machine.clock();
    }
    expect(await logTimeOf(machine, organization, stamp)).toBe(own);
  });

  it('keeps its time if steps of less than a tenth of a second follow', async () => {
    const machine = start();
    pass(20);
    const before = logTime(machine);
    step(-5_000);
    const stamp = machine.clock();
    for (let nth = 0; nth < 3; nth++) {
      step(-50);
      machine.clock();
    }
    expect(await logTimeOf(machine, organization, stamp)).toBeGreaterThanOrEqual(before);
  });

  it('while no process ran is after the newest event, even if the clock is set back again before the log is used', async () => {
    const id = `ev_${ulidFrom(opening, new Uint8Array(10))}`;
    const item = `tk_${randomUUID()}`;
    await appendEvent(start(), { organization, id, event: 'task.created', item, version: 1, data: '{}' });
    step(-5_000);
    const machine = start();
    const stamp = machine.clock();
    step(-5_000);
    pass(10);
    expect(await logTimeOf(machine, organization, stamp)).toBeGreaterThan(opening);
  });
});
