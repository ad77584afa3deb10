import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { expect, it } from 'vitest';
import { outputsOf } from '../../infra/aws/deployed/stack.ts';
import { isProtected } from '../../infra/aws/deployed/stack-policy.ts';
import { verifyWebhook } from '../../lib/client/verify-webhook.ts';
import { standardProfileIn } from '../../lib/contract/agents/models.ts';
import { dataOf } from '../api.ts';
import { run } from '../journeys/deployment.ts';
import { createAgent, createTask, moveTask, readTask, register } from '../journeys/requests.ts';
import { startReceiver } from '../sender/receiver.ts';
import { executed } from './agents.ts';
import { createDeployedOrganization, deploy, stack } from './deployed.ts';
import { arrivesWithinMs } from './webhooks.ts';

const newerModel = 'maker.newer-model-v1:0';

/** Defines the tests of a second deployment with another setting. */
export function testUpdate(): void {
  it('is refused where it would run the stack on another table', async () => {
    const restoredStream = 'arn:aws:dynamodb:us-east-1:000000000000:table/other/stream/2026-01-01T00:00:00.000';
    await expect(deploy({ restoredStream })).rejects.toThrow(
      /CrewboardEphemeral uses the table \S+; this deploy would replace it with other\./,
    );
  }, 60_000);

  it('can be held by a stack policy to the table and the key, which the emulator stores but does not enforce', async () => {
    expect(await isProtected(stack)).toBe(false);
    const { code, stderr } = await run(
      ['infra/cli/main.ts', 'protect', '--stack', stack],
      process.env as Record<string, string>,
    );
    expect([code, stderr]).toEqual([0, '']);
    expect(await isProtected(stack)).toBe(true);
  }, 60_000);

  it('fails and is rolled back if a function does not start, and the service continues', async () => {
    const { SecretsKeyArn: replacedKey = '' } = await outputsOf(stack);
    // Nothing but a function notices that there is no such key.
    const secretsKey = replacedKey.replace(/[^/]+$/, '00000000-0000-4000-8000-000000000000');
    await expect(deploy({ secretsKey, replacedKey })).rejects.toThrow(/Functions do not start: .*RegisterWebhook: \w+/);
    const { Stacks = [] } = await new CloudFormationClient({}).send(new DescribeStacksCommand({ StackName: stack }));
    expect(Stacks[0]?.StackStatus).toBe('UPDATE_ROLLBACK_COMPLETE');
    expect((await outputsOf(stack)).SecretsKeyArn).toBe(replacedKey);

    const deployed = await createDeployedOrganization('rolled-back');
    const receiver = await startReceiver();
    const secret = 'by the former key';
    await register(deployed, { url: receiver.url, events: ['task.created'], secret });
    await createTask(deployed, 'Signed');
    const [got] = await receiver.next(1, arrivesWithinMs);
    expect(got && (await verifyWebhook({ body: got.raw, headers: got.headers, secret }))).toBeTruthy();
  }, 300_000);

  it('changes the setting, and keeps the data, the tokens and the secrets', async () => {
    const deployed = await createDeployedOrganization('lasting');
    const { api } = deployed;
    const receiver = await startReceiver();
    const secret = 'older than the update';
    await register(deployed, { url: receiver.url, events: ['task.completed'], secret });
    const id = await createTask(deployed, 'Kept');
    await createAgent(deployed, 'older');

    await deploy({ defaultModel: newerModel });

    await createAgent(deployed, 'newer');
    const modelOf = async (name: string) => dataOf<{ model: string }>(await api.getAgent({ params: { name } })).model;
    expect([await modelOf('older'), await modelOf('newer')]).toEqual([standardProfileIn('us-east-1'), newerModel]);
    expect(await executed(deployed, 'newer', 'Which model is it?')).toMatchObject({
      status: 'completed',
      output: expect.stringContaining(newerModel),
    });
    expect((await readTask(deployed, id)).title).toBe('Kept');
    await moveTask(deployed, id, 'done');
    const [got] = await receiver.next(1, arrivesWithinMs);
    const delivery = got && (await verifyWebhook({ body: got.raw, headers: got.headers, secret }));
    expect(delivery?.data).toMatchObject({ task: { id } });
  }, 240_000);
}
