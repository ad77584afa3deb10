import { describe, expect, it } from 'vitest';
import { successOf } from '../api.ts';
import { attemptsOf, createTask, register } from '../journeys/requests.ts';
import { createDeployedOrganization } from './deployed.ts';
import { testMcp } from './mcp.ts';
import { testErrorResponses } from './rights/error-responses.ts';
import { testTasks } from './tasks.ts';
import { arrivesWithinMs } from './webhooks.ts';

const missing = ['STACK', 'AWS_REGION'].filter((name) => !process.env[name]);
if (missing.length > 0)
  throw new Error(
    `${missing.join(' and ')} must be set: the name of a deployed stack and its region, as in STACK=CrewboardEphemeral-staging AWS_REGION=eu-central-1 npm run test:stack. See docs/deploying.md#tests-of-a-running-stack.`,
  );

describe('the running stack', { concurrent: true }, () => {
  testErrorResponses();
  testTasks();
  testMcp();

  it('publishes the event of a change, and sends it to a receiver at a public address', async () => {
    const deployed = await createDeployedOrganization('deliveries');
    // The API itself is the receiver: no path of it accepts a delivery, and the attempt log has its response.
    const url = `${deployed.url}/health`;
    const webhook = await register(deployed, { url, events: ['task.created'], secret: 'a secret' });
    await createTask(deployed, 'Published');
    const [attempt] = await attemptsOf(deployed, webhook, 1, arrivesWithinMs);
    expect(attempt).toMatchObject({ event: 'task.created', attempt: 1, httpStatus: 405 });
    // So that no retry is made.
    successOf(await deployed.api.deleteWebhook({ params: { id: webhook } }));
  });
});
