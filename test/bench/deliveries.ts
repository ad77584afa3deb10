import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { startEngine } from '../../infra/local/engine.ts';
import { createTable } from '../../infra/local/table.ts';
import { openApp } from '../../lib/app.ts';
import { environment } from '../../lib/contract/deployment.ts';
import type { Organization } from '../../lib/contract/organization.ts';
import { openTable } from '../../lib/table/client.ts';
import { openSender } from '../../lib/webhooks/sender.ts';
import { faultsOf } from './arrivals.ts';
import type { Bench, Part } from './bench.ts';
import { figure, spread } from './figures.ts';
import { busyShare, coreTimes } from './machine-busy.ts';
import type { Section } from './page.ts';
import { putPending } from './pending-deliveries.ts';
import { cpuOfTree } from './process-cpu.ts';
import { startReceiver } from './receiver.ts';
import { temporaryFolder } from './temporary-folder.ts';

const concurrency = 10;
const tableName = 'bench';

/**
 * What a run came to: deliveries a second, CPU milliseconds a delivery of the worker and of the table engine, and which
 * percentage of the time of the machine's cores was busy with anything.
 */
type Run = { rate: number; workerMs: number; engineMs: number; busyPercent: number };

/** How many deliveries a second one process makes, and what each costs. */
export const deliveries: Part = {
  name: 'deliveries',
  async measure(bench) {
    const [runs, count] = bench.quick ? [1, 100] : [5, 1_000];
    const deliver = await openDelivering(bench);
    await deliver(count);
    const results: Run[] = [];
    for (let run = 1; run <= runs; run++) {
      const result = await deliver(count);
      results.push(result);
      bench.say(`run ${run} of ${runs}: ${count} deliveries, ${figure(result.rate)} a second`);
    }
    return [sectionOf(results, count)];
  },
};

/** Opens everything that an attempt needs. The answer makes so many deliveries, each once, and tells what it took. */
async function openDelivering(bench: Bench): Promise<(count: number) => Promise<Run>> {
  const folder = temporaryFolder(bench);
  const receiver = await startReceiver(bench);
  const engine = await startEngine({ database: join(folder, 'table.db'), log: join(folder, 'engine.log') });
  bench.atEnd(engine.stop);
  await createTable(engine.endpoint, tableName);
  const app = openApp({
    environment: {
      [environment.tableName]: tableName,
      [environment.dynamodbEndpoint]: engine.endpoint,
      [environment.secretsKeyFile]: join(folder, 'secrets.key'),
      [environment.allowedReceivers]: '127.0.0.1:*',
    },
    clock: Date.now,
  });
  const table = openTable(tableName, engine.endpoint);
  const send = openSender(app.allowed);
  const cpu = () => ({ own: process.cpuUsage(), all: cpuOfTree(process.pid, [receiver.pid]), cores: coreTimes() });

  return async (count) => {
    const organization = `org-${randomUUID()}` as Organization;
    const webhook = { url: `${receiver.url}/hooks`, events: ['task.created' as const], secret: randomUUID() };
    const { id: webhookId } = await app.registration(organization, webhook, undefined);
    const messages = await putPending(table, { organization, webhookId }, count);
    const left = messages.values();
    const worker = async () => {
      for (const message of left) await app.deliveries.attempt(message, send);
    };
    const before = cpu();
    const startedAt = performance.now();
    await Promise.all(Array.from({ length: concurrency }, worker));
    const seconds = (performance.now() - startedAt) / 1000;
    const after = cpu();
    const ownMs = (after.own.user + after.own.system - before.own.user - before.own.system) / 1000;
    const engineMs = after.all - before.all - ownMs;
    const busyPercent = 100 * busyShare(before.cores, after.cores);

    const { total } = await app.webhooks.history(organization, webhookId, { limit: 1, offset: 0 });
    const faults = faultsOf(await receiver.take(), ['/hooks'], count);
    if (total !== count) faults.push(`The history has ${total} attempts instead of ${count}.`);
    if (faults.length > 0) throw new Error(faults.join('\n'));
    return { rate: count / seconds, workerMs: ownMs / count, engineMs: engineMs / count, busyPercent };
  };
}

function sectionOf(runs: readonly Run[], count: number): Section {
  const of = (name: keyof Run, decimals?: number) => {
    const values = runs.map((run) => run[name]);
    return spread(values, decimals);
  };
  return {
    title: 'Deliveries a second',
    text: [
      `One process takes ${figure(count)} deliveries that wait in the table, ${concurrency} at a time, and makes the first attempt of each:
claims it, reads the webhook, opens its secret, signs, posts through the guarded sender to a receiver that answers 204 at
once, and writes down how it ended. Real table engine, stores, key file and sender; no queue and no stream. Median of
${runs.length} runs, in brackets the least and the greatest; a run before them is not counted. Each run checks that every
delivery arrived once and is in the history.`,
      `CPU is user and system time of the process that delivers, and of the table engine; the receiver’s is left out.
Machine busy: the share of all cores’ time, with whatever ran.`,
      'Repeat: `npm run bench -- deliveries`.',
    ],
    table: {
      head: ['Figure', 'Seen'],
      rows: [
        ['deliveries a second', of('rate')],
        ['CPU ms a delivery, delivering process', of('workerMs', 2)],
        ['CPU ms a delivery, table engine', of('engineMs', 2)],
        ['machine busy, %', of('busyPercent')],
      ],
    },
  };
}
