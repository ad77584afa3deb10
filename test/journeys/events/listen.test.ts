import { createServer, connect as openTcp, type Server, type Socket } from 'node:net';
import { expect, it } from 'vitest';
import { verifyWebhook } from '../../../lib/client/verify-webhook.ts';
import { type Received, startReceiver } from '../../sender/receiver.ts';
import { start, startDeployment, until } from '../deployment.ts';
import { createTask, moveTask } from '../requests.ts';

const service = await startDeployment();

/** Passes connections on to the service; `cut` closes all of them, and no new one is possible until `open`. */
async function startProxy() {
  const sockets = new Set<Socket>();
  const target = Number(new URL(service.url).port);
  let server: Server;
  let port = 0;
  const open = async () => {
    server = createServer((socket) => {
      const other = openTcp(target, '127.0.0.1');
      for (const one of [socket, other]) {
        sockets.add(one);
        one
          .on('error', () => {})
          .on('close', () => {
            sockets.delete(one);
            socket.destroy();
            other.destroy();
          });
      }
      socket.pipe(other).pipe(socket);
    }).unref();
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    port = (server.address() as { port: number }).port;
  };
  await open();
  return {
    url: `http://127.0.0.1:${port}`,
    open,
    cut: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

/** Starts `crewboard listen`, and waits until it follows the log. */
async function listen(url: string, args: string[], secret?: string) {
  const environment = { CREWBOARD_URL: url, CREWBOARD_TOKEN: service.token, ...(secret && { WEBHOOK_SECRET: secret }) };
  const command = start(['infra/cli/main.ts', 'listen', ...args], environment);
  await until('the command listens', () => command.output.stderr.includes('Forwarding events'));
  return command;
}

const tasksOf = (received: readonly Received[]) => received.map(({ body }) => `${body.event} ${body.data.task.id}`);

it('listen forwards events in order, signed as deliveries, and continues without a gap after a lost connection', async () => {
  const receiver = await startReceiver();
  const proxy = await startProxy();
  const before = await createTask(service, 'Before');
  const command = await listen(proxy.url, ['--forward-to', receiver.url, '--replay', '1h']);
  const ids = [before];
  await receiver.next(1);

  const first = await createTask(service, 'First');
  ids.push(first);
  await receiver.next(2);
  await proxy.cut();
  await until('the command has lost the connection', () => command.output.stderr.includes('The connection is lost'));
  for (const title of ['Second', 'Third', 'Fourth']) ids.push(await createTask(service, title));
  await proxy.open();
  await receiver.next(5);
  await until('the command is connected', () => command.output.stderr.includes('continuing without a gap'));
  await moveTask(service, first, 'done');
  await receiver.next(7);

  command.child.kill('SIGINT');
  const { code, stdout, stderr } = await command.ended;
  expect([code, stderr]).toEqual([0, expect.stringMatching(/Ended\. 7 delivered, 0 failed\.\n$/)]);
  const [, secret = ''] = /^WEBHOOK_SECRET=(whsec_\S+)$/m.exec(stderr) ?? [];
  const ended = [`task.completed ${first}`, `task.status_changed ${first}`];
  const forwarded = tasksOf(receiver.received);
  expect([...forwarded.slice(0, 5).toSorted(), ...forwarded.slice(5).toSorted()]).toEqual([
    ...ids.map((id) => `task.created ${id}`).toSorted(),
    ...ended,
  ]);
  expect(new Set(receiver.received.map(({ body }) => body.deliveryId)).size).toBe(7);
  for (const { raw: body, headers } of receiver.received)
    expect((await verifyWebhook({ body, headers, secret })).deliveryId).toBe(headers['x-service-delivery']);
  expect(stdout.trim().split('\n')).toHaveLength(7);
  expect(stdout).toMatch(new RegExp(`✓ task.created ${first} → ${new URL(receiver.url).host} 204, `));
});

it('listen forwards only new events of the task and names that it is given, and shows what fails, once', async () => {
  const own = await createTask(service, 'Its own');
  await until('the log has the task', async () => {
    const { body } = await service.api.listEvents({ query: `task_id=${own}` });
    return (body.data as unknown as unknown[]).length === 1;
  });
  const receiver = await startReceiver((response) => response.writeHead(500).end());
  const args = ['--forward-to', receiver.url, '--task', own, '--events', 'task.created,task.completed', '--json'];
  const command = await listen(service.url, args, 'a secret');
  await moveTask(service, own, 'in_progress');
  await moveTask(service, own, 'done');
  await until('the command has printed a line', () => command.output.stdout.includes('\n'));
  command.child.kill('SIGINT');
  const { code, stdout, stderr } = await command.ended;
  expect(code).toBe(0);
  expect(stderr).not.toContain('WEBHOOK_SECRET');
  expect(tasksOf(receiver.received)).toEqual([`task.completed ${own}`]);
  const [{ body } = expect.fail('nothing arrived')] = receiver.received;
  const error = 'The receiver answered 500.';
  const deliveryId = body.deliveryId;
  const data = { event: 'task.completed', deliveryId, httpStatus: 500, error };
  expect(JSON.parse(stdout)).toMatchObject({ data });
  expect(stderr).toMatch(/Ended\. 0 delivered, 1 failed\.\n$/);
});
