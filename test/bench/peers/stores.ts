import { execFileSync } from 'node:child_process';
import { chownSync } from 'node:fs';
import { freePort } from '../../servers/free-port.ts';
import { type Bench, createFolder } from '../bench.ts';
import { startProgram } from './programs.ts';

/** The folder and the environment that the programs run in. */
type Base = { cwd: string; env: NodeJS.ProcessEnv };

/** Starts Redis with an append-only file, which is flushed to the disk every second. */
export async function startRedis(bench: Bench, path: string, base: Base): Promise<{ pid: number; port: number }> {
  const port = await freePort();
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--appendonly', 'yes'];
  return { port, pid: await startProgram(bench, path, { ...base, args, ready: /Ready to accept connections/ }) };
}

/** Starts PostgreSQL with its default configuration. It refuses root: then it runs as the user `postgres`. */
export async function startPostgres(
  bench: Bench,
  { initdb, postgres }: { initdb: string; postgres: string },
  base: Base,
): Promise<{ pid: number; url: string }> {
  const cwd = createFolder(bench);
  const user = process.getuid?.() === 0 ? { uid: Number(execFileSync('id', ['-u', 'postgres'])) } : {};
  if (user.uid !== undefined) chownSync(cwd, user.uid, -1);
  const options = { ...base, cwd, ...user };
  execFileSync(initdb, ['--pgdata', '.', '--username', 'outpost', '--auth', 'trust'], { ...options, stdio: 'pipe' });
  const port = await freePort();
  const args = ['-D', '.', '-p', String(port), '-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories='];
  const pid = await startProgram(bench, postgres, { ...options, args, ready: /ready to accept connections/ });
  return { pid, url: `postgres://outpost@127.0.0.1:${port}/postgres?sslmode=disable` };
}

/** Starts RabbitMQ with its default configuration, and Erlang's port mapper before: RabbitMQ would start one that stays. */
export async function startRabbit(
  bench: Bench,
  { epmd, rabbit }: { epmd: string; rabbit: string },
  { cwd, env }: Base,
): Promise<{ pids: number[]; url: string }> {
  const [mapper, distribution, port] = [await freePort(), await freePort(), await freePort()].map(String);
  const rabbitEnv = {
    ...env,
    ERL_EPMD_ADDRESS: '127.0.0.1',
    ERL_EPMD_PORT: mapper,
    RABBITMQ_NODENAME: 'outpost@localhost',
    RABBITMQ_NODE_IP_ADDRESS: '127.0.0.1',
    RABBITMQ_NODE_PORT: port,
    RABBITMQ_DIST_PORT: distribution,
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: '-kernel inet_dist_use_interface {127,0,0,1}',
    RABBITMQ_MNESIA_BASE: cwd,
    RABBITMQ_LOGS: '-',
    RABBITMQ_CONF_ENV_FILE: '/dev/null',
    RABBITMQ_CONFIG_FILE: `${cwd}/rabbitmq`,
    RABBITMQ_ENABLED_PLUGINS_FILE: `${cwd}/plugins`,
  };
  const mapping = await startProgram(bench, epmd, { args: ['-d'], cwd, env: rabbitEnv, ready: /epmd running/ });
  const ready = /Server startup complete/;
  const server = await startProgram(bench, rabbit, { cwd, env: rabbitEnv, ready });
  return { pids: [server, mapping], url: `amqp://guest:guest@127.0.0.1:${port}` };
}
