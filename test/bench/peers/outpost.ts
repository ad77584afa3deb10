import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { freePort } from '../../servers/free-port.ts';
import { createFolder } from '../bench.ts';
import { cpuOfTree } from '../process-stats.ts';
import type { Publisher } from '../service.ts';
import { jsonApi, type Peer } from './peer.ts';
import { startProgram } from './programs.ts';
import { startPostgres, startRabbit, startRedis } from './stores.ts';

/** Outpost's documentation recommends a process for each of its services. */
const services = ['api', 'delivery', 'log'];

/** Concurrent deliveries, and concurrent messages of the history: as in Outpost's own load test on AWS. The default is 1. */
const concurrency = '200';

const topic = 'task.created';

const version = '1.2.0';
const source = 'github.com/hookdeck/outpost';

/** Outpost (github.com/hookdeck/outpost) with Redis, RabbitMQ and PostgreSQL. Its API listens on all interfaces. */
export const outpost: Peer<Publisher> = {
  name: 'Outpost',
  needs: ['outpost', 'outpost-server', 'redis-server', 'rabbitmq-server', 'epmd', 'initdb', 'postgres'],
  install: [
    'apt-get install redis-server rabbitmq-server postgresql && GOBIN=$PWD/.peers/bin go install',
    `-ldflags "-X ${source}/internal/version.version=${version}"`,
    ...['outpost', 'outpost-server'].map((program) => `${source}/cmd/${program}@v${version}`),
  ].join(' '),
  async start(bench, paths) {
    const of = (program: string) => paths[program] as string;
    const cwd = createFolder(bench);
    const base = { cwd, env: { PATH: process.env.PATH, HOME: cwd } };
    const redis = await startRedis(bench, of('redis-server'), base);
    const postgres = await startPostgres(bench, { initdb: of('initdb'), postgres: of('postgres') }, base);
    const rabbit = await startRabbit(bench, { epmd: of('epmd'), rabbit: of('rabbitmq-server') }, base);
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
      DELIVERY_MAX_CONCURRENCY: concurrency,
      LOG_MAX_CONCURRENCY: concurrency,
      DISABLE_TELEMETRY: 'true',
      // The header in which the receiver looks for the id of a delivery.
      DESTINATIONS_WEBHOOK_EVENT_ID_HEADER_NAME: 'x-service-delivery',
    };
    execFileSync(of('outpost'), ['migrate', 'apply', '--yes'], { cwd, env, stdio: 'pipe' });
    const started: { port: number; pid: number }[] = [];
    for (const service of services) {
      const port = await freePort();
      const options = {
        cwd,
        env: { ...env, SERVICE: service, API_PORT: String(port) },
        ready: /http server listening/,
      };
      started.push({ port, pid: await startProgram(bench, of('outpost-server'), options) });
    }
    const pids = [...started.map(({ pid }) => pid), redis.pid, postgres.pid, ...rabbit.pids];
    const send = jsonApi(`http://127.0.0.1:${started[0]?.port}/api/v1`, token);
    const name = execFileSync(of('outpost'), ['--version'], { cwd, encoding: 'utf8' }).trim();
    return {
      name: name.replace('outpost version', 'Outpost'),
      cpu: () => pids.reduce((sum, pid) => sum + cpuOfTree(pid), 0),
      async subscribe(urls) {
        const tenant = randomUUID();
        await send('PUT', `/tenants/${tenant}`);
        for (const url of urls)
          await send('POST', `/tenants/${tenant}/destinations`, { type: 'webhook', topics: [topic], config: { url } });
        return {
          publish: (title) => send('POST', '/publish', { tenant_id: tenant, topic, data: { title } }),
          unsubscribe: () => send('DELETE', `/tenants/${tenant}`),
        };
      },
    };
  },
};
