import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { globSync } from 'node:fs';
import { delimiter, resolve } from 'node:path';
import { freePort } from '../../../infra/local/engine/engine.ts';
import { successOf } from '../../api.ts';
import { sendRequest } from '../../api-over-http.ts';
import { type Bench, createFolder } from '../bench.ts';
import { cpuOfTree, residentOfTree } from '../process-stats.ts';
import type { Subject } from '../subject.ts';
import { findPrograms, startProgram } from './programs.ts';
import { startPostgres, startRabbit, startRedis } from './stores.ts';

/** A service of other authors with the same purpose; `about` describes its configuration for the page. */
export type Peer = Subject & { about: string };

const names = ['outpost', 'outpost-server', 'redis-server', 'rabbitmq-server', 'epmd', 'initdb', 'postgres'] as const;

/** Outpost's documentation recommends a process for each of its services. */
const services = ['api', 'delivery', 'log'];

/** Concurrent deliveries, and concurrent messages of the history: as in Outpost's own load test on AWS. The default is 1. */
const concurrency = 200;

const topic = 'task.created';

/**
 * Starts Outpost (github.com/hookdeck/outpost) with Redis, RabbitMQ and PostgreSQL, on free ports and new data folders.
 *
 * To install it, put `outpost` and `outpost-server` of a release into one folder, or build them in a checkout of the release:
 * `go build -ldflags "-X github.com/hookdeck/outpost/internal/version.version=1.2.0" -o bin/ ./cmd/outpost ./cmd/outpost-server`.
 * Install the packages `redis-server`, `rabbitmq-server` and `postgresql`. Set `OUTPOST` to the folder.
 *
 * @param environment `OUTPOST`, and `PATH` for the other programs
 * @returns undefined if a program is missing, which it prints
 */
export async function startOutpost(
  bench: Bench,
  environment: NodeJS.ProcessEnv = process.env,
): Promise<Peer | undefined> {
  const { OUTPOST, PATH = '' } = environment;
  const skip = (why: string) => bench.say(`Outpost is skipped: ${why}; see test/bench/peers/outpost.ts.`);
  if (!OUTPOST) return void skip('OUTPOST does not name the folder of its programs');
  // Debian installs these outside the PATH. The rabbitmq-server on its PATH changes the user.
  const usual = ['/usr/lib/rabbitmq/bin', ...globSync('/usr/lib/postgresql/*/bin')];
  const { paths, missing } = findPrograms(names, [resolve(OUTPOST), ...usual, ...PATH.split(delimiter)]);
  if (missing.length > 0) return void skip(`${missing.join(', ')} not found`);

  const cwd = createFolder(bench);
  const base = { cwd, env: { PATH, HOME: cwd } };
  const redis = await startRedis(bench, paths['redis-server'], base);
  const postgres = await startPostgres(bench, paths, base);
  const rabbit = await startRabbit(bench, paths, base);
  const token = randomUUID();
  const env = {
    ...base.env,
    API_KEY: token,
    API_JWT_SECRET: randomUUID(),
    AES_ENCRYPTION_SECRET: randomUUID().slice(0, 32),
    TOPICS: topic,
    REDIS_PORT: String(redis.port),
    POSTGRES_URL: postgres.url,
    RABBITMQ_SERVER_URL: rabbit.url,
    DELIVERY_MAX_CONCURRENCY: String(concurrency),
    LOG_MAX_CONCURRENCY: String(concurrency),
    DISABLE_TELEMETRY: 'true',
  };
  execFileSync(paths.outpost, ['migrate', 'apply', '--yes'], { cwd, env, stdio: 'pipe' });
  const started: { port: number; pid: number }[] = [];
  for (const service of services) {
    const port = await freePort();
    const options = { cwd, env: { ...env, SERVICE: service, API_PORT: String(port) }, ready: /http server listening/ };
    started.push({ port, pid: await startProgram(bench, paths['outpost-server'], options) });
  }
  const processes = { service: started.map(({ pid }) => pid), store: [redis.pid, postgres.pid, ...rabbit.pids] };
  const sumOf = (measure: (pid: number) => number) => ({
    service: processes.service.reduce((sum, pid) => sum + measure(pid), 0),
    store: processes.store.reduce((sum, pid) => sum + measure(pid), 0),
  });
  const url = `http://127.0.0.1:${started[0]?.port}/api/v1`;
  const send = async (method: string, path: string, body?: unknown) => {
    const answer = await sendRequest(url, { method, path, body, token });
    successOf(answer);
    return answer.body as unknown;
  };
  return {
    name: execFileSync(paths.outpost, ['--version'], { cwd, encoding: 'utf8' })
      .trim()
      .replace('outpost version', 'Outpost'),
    about,
    cpu: () => sumOf(cpuOfTree),
    memory: () => sumOf(residentOfTree),
    async subscribe(urls) {
      const tenant = randomUUID();
      await send('PUT', `/tenants/${tenant}`);
      for (const url of urls)
        await send('POST', `/tenants/${tenant}/destinations`, { type: 'webhook', topics: [topic], config: { url } });
      return {
        publish: (title) => send('POST', '/publish', { tenant_id: tenant, topic, data: { title } }),
        async attempts() {
          const page = await send('GET', `/attempts?tenant_id=${tenant}&limit=100`);
          return (page as { models: unknown[] }).models.length;
        },
        async end() {
          await send('DELETE', `/tenants/${tenant}`);
        },
      };
    },
  };
}

const about = `Outpost runs with ${concurrency} concurrent deliveries and log messages, as in its own load test (the default is 1), and
without telemetry; all else is its default: signed deliveries, up to 10 retries, a history that is written in batches of
1,000 attempts or after 10 s. It runs as the processes ${services.join(', ')}, as its documentation recommends; one process
takes less memory and the same CPU time. Its figures of the table engine are those of Redis (with an append-only file),
RabbitMQ and PostgreSQL. Its memory is PSS, which counts pages once that processes share.

Outpost and this service guarantee the same to receivers: at least one delivery of each event. They differ before and after.
An event of Outpost is published alone: RabbitMQ has it in a durable queue before the response, and an event for no
webhook is not stored. An event of this service comes from a change of a task, which is stored with its lists before the
response; all events are stored. The RabbitMQ client of Outpost collects messages for up to 50 ms, which few events a
second wait for. Its history follows with the next batch, whose CPU time can fall into the next measurement; an
attempt of this service is in the history as soon as its row is written.`;
