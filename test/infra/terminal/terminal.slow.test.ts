import { expect, it } from 'vitest';
import { startDeployment, until } from '../../journeys/deployment.ts';
import { createAgent, createTask, execute, register } from '../../journeys/requests.ts';
import { startReceiver } from '../../sender/receiver.ts';

const untilPrinted = ({ output }: { output: () => string }, line: RegExp) =>
  until(`a line ${line}`, () => line.test(output()));

it('prints a line for a request, a failed attempt, its retry and an execution if LOG is text', async () => {
  const service = await startDeployment({ environment: { LOG: 'text', RETRY_LADDER: '1,2,3' } });
  const statuses = [500, 204];
  const receiver = await startReceiver((response) => response.writeHead(statuses.shift() ?? 204).end());
  await register(service, { url: `${receiver.url}/path?token=private`, events: ['task.created'] });
  await createTask(service, 'A private title');
  const agent = await createAgent(service, 'builder');
  const executionId = await execute(service, agent, 'A private input');

  const at = `localhost:${receiver.port}|127.0.0.1:${receiver.port}`;
  await untilPrinted(service, /^\d\d:\d\d:\d\d {3}POST \/api\/kanban-tasks 201 [\d.]+ m?s$/m);
  await untilPrinted(service, new RegExp(`^[\\d:]{8} {6}✗ task\\.created → (${at}) 500, retry in 1 s$`, 'm'));
  await untilPrinted(service, new RegExp(`^[\\d:]{8} {6}✓ task\\.created → (${at}) 204, [\\d.]+ m?s$`, 'm'));
  await untilPrinted(
    service,
    new RegExp(`^[\\d:]{8} {6}✓ builder ${executionId} completed [\\d.]+ m?s, gates passed$`, 'm'),
  );

  const { stdout, stderr } = await service.stop();
  expect(stderr).toBe('');
  expect(stdout).not.toContain('private');
  expect(stdout).not.toContain('\u001b');
});

it('prints JSON without a terminal if LOG is not set', async () => {
  const service = await startDeployment();
  await createTask(service, 'A task');
  await untilPrinted(service, /^\{"level":"INFO","message":"request",.*"path":"\/api\/kanban-tasks","status":201/m);
});
