import { describe, expect, it } from 'vitest';
import { type Resource, resourcesOf } from '../../../infra/aws/deployed/stack.ts';
import type { Delivery } from '../../../lib/client/operations.ts';
import { verifyWebhook } from '../../../lib/client/verify-webhook.ts';
import { dataOf, paginationOf, statusAndCodeOf, successOf } from '../../api.ts';
import { until } from '../../journeys/deployment.ts';
import { attemptsOf, createAgent, createTask, endOf, execute, moveTask, register } from '../../journeys/requests.ts';
import { type Received, type Receiver, startReceiver } from '../../sender/receiver.ts';
import { type LoopbackServer, startLoopbackServer } from '../../servers/loopback.ts';
import {
  createDeployedOrganization,
  type Deployed,
  deploy,
  destroy,
  headerOf,
  operatorCommand,
  stack,
} from '../deployed.ts';
import { cdk } from '../emulator/cdk.ts';
import { leftovers } from '../emulator/leftovers.ts';
import { arrivesWithinMs } from '../webhooks.ts';
import { makeDeadLetter } from './dead-letters.ts';
import {
  type Board,
  type Failing,
  keyed,
  parkedAttemptOf,
  secrets,
  startFailing,
  writeBoard,
} from './organizations-at-rest.ts';
import { type Responses, readAll } from './read-all.ts';
import { startRequestsInTurn } from './requests-in-turn.ts';

const { FORMER_CHECKOUT: former } = process.env;
if (!former)
  throw new Error('These tests need an emulator of AWS and a former version; run them by npm run test:upgrade.');

/** The wait of the first retry is longer than the update, so that retries wait in their queue during it. In seconds. */
const retryLadder = [120, 2, 3];
const firstRetryMs = (retryLadder[0] as number) * 1000 + arrivesWithinMs;

/** The longest wait for a function that the emulator has ended in the middle of a message: its visibility timeout. */
const visibleAgainMs = 180_000 + arrivesWithinMs;

/** The longest wait for the sweeper: the interval of its schedule, and its run. In milliseconds. */
const sweptMs = 60_000 + arrivesWithinMs;

/**
 * The settings of both versions. A slow receiver gets one attempt after the other. The former version does not know the values
 * of `allowedModels`.
 */
const settings = { retryLadder, queues: { slowDeliveries: { concurrency: 2 } }, allowedModels: undefined };

/** The types of resources that have data, and of the API, whose URL clients have. */
const lastingTypes = ['AWS::ApiGatewayV2::Api', 'AWS::DynamoDB::GlobalTable', 'AWS::KMS::Key', 'AWS::SQS::Queue'];

/** Returns these resources of the stack: with another logical id, a resource would be replaced by an empty one. */
async function lastingResources(): Promise<Resource[]> {
  const resources = (await resourcesOf(stack)).filter(({ type }) => lastingTypes.includes(type));
  return resources.sort((one, other) => one.id.localeCompare(other.id));
}

/** Operations that read one entry of each kind. */
const readOneByOne = [
  ...['getTask', 'getAgent', 'listSkills', 'getPrompt', 'getMetrics', 'getExecution', 'listSteps'],
  ...['getWebhook', 'getDelivery', 'getEvent'],
];

const deliveryIdOf = ({ body }: Received) => body.deliveryId;
const createFormer = (name: string) => createDeployedOrganization(name, former);

/** Returns the titles of the tasks of the received events. */
const titlesAt = ({ received }: Receiver) => received.map(({ body }) => body.data.task.title).sort();

/** A URL that answers when `answer` is called. */
async function startHeld(): Promise<LoopbackServer & { asked: () => number; answer: () => void }> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let asked = 0;
  const server = await startLoopbackServer((_, response) => {
    asked++;
    void promise.then(() => response.end());
  });
  return { ...server, asked: () => asked, answer: resolve };
}

/** The organizations of the former version, which the tests after the update use. */
let board: Deployed & Board;
let exhausted: Failing;
let parked: Failing;
let retrying: Failing;
let dead: { deployed: Deployed; receiver: Receiver; webhook: string };
let slow: { receiver: Receiver; titles: string[] };
let running: { deployed: Deployed; id: string; held: Awaited<ReturnType<typeof startHeld>>; receiver: Receiver };
let tokens: { reading: string; revoked: string };
let answered: unknown;
let requested: Deployed;
const atRest = new Map<Deployed, Responses>();

describe('the former version', () => {
  it('is deployed to an empty account', async () => {
    await cdk(['bootstrap', 'aws://000000000000/us-east-1'], undefined, former);
    await deploy(settings, former);
  });

  it('has data at rest: a board with agents, executions and delivered events, an exhausted delivery and a parked attempt', async () => {
    const pausable = startFailing(await createFormer('parked'), 1);
    const failing = startFailing(await createFormer('exhausted'), 4);
    parked = await pausable;
    exhausted = await failing;
    successOf(await parked.deployed.api.updateWebhook({ params: { id: parked.webhook }, body: { active: false } }));

    const deployed = await createFormer('board');
    const held = await startHeld();
    board = { ...deployed, ...(await writeBoard(deployed, held.url)) };
    held.answer();
    answered = (await deployed.api.createTask(keyed)).body;
    const create = ['token', 'create', '--org', deployed.organization, '--scopes', 'tasks:read'];
    tokens = { reading: await operatorCommand(create, former), revoked: await operatorCommand(create, former) };
    await operatorCommand(['token', 'revoke', tokens.revoked], former);

    await exhausted.receiver.next(4, firstRetryMs);
    await attemptsOf(exhausted.deployed, exhausted.webhook, 4);
    await parkedAttemptOf(parked, firstRetryMs);
    for (const one of [deployed, exhausted.deployed, parked.deployed]) atRest.set(one, await readAll(one.api));
  });

  it('has work in flight: a dead letter, a running execution, a waiting retry, and attempts that wait for a slow receiver', async () => {
    const [ofDead, receiver] = [await createFormer('dead-letters'), await startReceiver()];
    const webhook = await register(ofDead, { url: receiver.url, events: ['task.created'], secret: secrets.kept });
    await makeDeadLetter(ofDead);
    dead = { deployed: ofDead, receiver, webhook };

    const [ofRunning, held] = [await createFormer('running'), await startHeld()];
    const ended = await startReceiver();
    await register(ofRunning, { url: ended.url, events: ['agent.completed'] });
    await createAgent(ofRunning, 'worker');
    running = {
      deployed: ofRunning,
      id: await execute(ofRunning, 'worker', `After ${held.url}: say so.`),
      held,
      receiver: ended,
    };
    await until('the model is asked', () => held.asked() > 0);

    retrying = await startFailing(await createFormer('retrying'), 2);

    const [ofSlow, sluggish] = [
      await createFormer('slow'),
      await startReceiver((response) => {
        setTimeout(() => response.writeHead(204).end(), 2_500);
      }),
    ];
    const ofSluggish = await register(ofSlow, { url: sluggish.url, events: ['task.created'] });
    await createTask(ofSlow, 'Slow');
    await sluggish.next(1, arrivesWithinMs);
    // From the end of this attempt on, the receiver counts as slow.
    await attemptsOf(ofSlow, ofSluggish, 1);
    const titles = Array.from({ length: 20 }, (_, at) => `Slow ${at}`);
    for (const title of titles) await createTask(ofSlow, title);
    slow = { receiver: sluggish, titles: ['Slow', ...titles].sort() };
  });
});

describe('the update to this version', () => {
  it('keeps every resource with data, and answers requests all the time', async () => {
    const before = await lastingResources();
    expect([...new Set(before.map(({ type }) => type))].sort()).toEqual(lastingTypes);
    requested = await createFormer('requests');
    const requests = await startRequestsInTurn(requested);
    await deploy(settings);
    await requests.stop();
    expect(await lastingResources()).toEqual(before);
    expect(requests.failures).toEqual([]);
    expect(requests.interrupted.length).toBeLessThanOrEqual(2);

    const { created, receiver } = requests;
    expect(created.length).toBeGreaterThan(0);
    expect(paginationOf(await requested.api.listTasks({ query: 'limit=1' })).total).toBe(created.length);
    await receiver.once(
      'the event of each task',
      (received) => new Set(received.map(({ body }) => body.data.task.id)).size === created.length,
      visibleAgainMs,
    );
  });
});

describe('what the former version has written', () => {
  it('is read as before, with the same totals; fields can be new', async () => {
    for (const [{ organization, api }, before] of atRest) {
      const after = await readAll(api);
      for (const [request, body] of Object.entries(before))
        expect({ organization, request, body: after[request] }).toMatchObject({ organization, request, body });
    }
    const read = new Set([...atRest.values()].flatMap((before) => Object.keys(before).map((one) => one.split(' ')[0])));
    expect([...read]).toEqual(expect.arrayContaining(readOneByOne));
  });

  it('has correct lists and counts, once results of executions and the search of tasks are added', async () => {
    // As the upgrade notes say: version 0.2.0 did not list the results, and had no search.
    const added = [
      /^wrong .*\} should be .*"tokensUsed":\d+,"qualityGates"/,
      /^missing +O#\S+#TS \S+ +\{"title":"[^"]+","facet"/,
    ];
    for (const { organization } of [...atRest.keys(), requested]) {
      const report = await operatorCommand(['reconcile', '--org', organization, '--fix']);
      const differences = report.split('\n').slice(0, -1);
      expect(differences.filter((line) => !added.some((kind) => kind.test(line)))).toEqual([]);
      expect(await operatorCommand(['reconcile', '--org', organization])).toBe(
        `All lists and counts of ${organization} are correct.`,
      );
    }
  });
});

describe('after the update', { concurrent: true }, () => {
  it('an access token keeps its scopes, and a revoked one stays revoked', async () => {
    const { api } = board;
    const { reading, revoked } = tokens;
    expect((await api.listTasks({ token: reading })).status).toBe(200);
    const creating = await api.createTask({ token: reading, body: { title: 'Not allowed' } });
    expect(statusAndCodeOf(creating)).toEqual([403, 'insufficient_scope']);
    expect(statusAndCodeOf(await api.listTasks({ token: revoked }))).toEqual([401, 'unauthorized']);
  });

  it('a request with an idempotency key of before gets the response of before', async () => {
    const again = await board.api.createTask(keyed);
    expect([again.status, headerOf(again, 'Idempotency-Replayed'), again.body]).toEqual([201, 'true', answered]);
  });

  it('events are signed with the secret of before, and with both secrets of a rotation', async () => {
    const [kept, rotated] = [board.kept.received.length, board.rotated.received.length];
    await moveTask(board, await createTask(board, 'Signed'), 'done');
    const [created] = (await board.kept.next(kept + 1, arrivesWithinMs)).slice(kept);
    const [completed] = (await board.rotated.next(rotated + 1, arrivesWithinMs)).slice(rotated);
    for (const [got, secret] of [
      [created, secrets.kept],
      [completed, secrets.before],
      [completed, secrets.after],
    ] as const)
      expect(got && (await verifyWebhook({ body: got.raw, headers: got.headers, secret })).data).toMatchObject({
        task: { title: 'Signed' },
      });
  });

  it('a retry that waited is made, and fails, and the next one of this version succeeds', async () => {
    const { deployed, webhook, receiver, deliveryId } = retrying;
    await receiver.next(3, firstRetryMs);
    const attempts = await attemptsOf(deployed, webhook, 3);
    expect(attempts.map((one) => [one.deliveryId, one.attempt, one.httpStatus])).toEqual([
      [deliveryId, 3, 204],
      [deliveryId, 2, 500],
      [deliveryId, 1, 500],
    ]);
  });

  it('an execution that ran is completed', async () => {
    const { deployed, id, held, receiver } = running;
    held.answer();
    await receiver.next(1, visibleAgainMs);
    const execution = await endOf(deployed, 'worker', id);
    expect(execution).toMatchObject({
      status: 'completed',
      output: expect.stringContaining(': say so.'),
      qualityGates: { selfTest: 'passed', qaReview: 'passed' },
    });
    expect(paginationOf(await deployed.api.listExecutions({ query: 'status=running' })).total).toBe(0);
  });

  it('a parked attempt is made when its webhook is active again', async () => {
    const { deployed, webhook, receiver, deliveryId } = parked;
    successOf(await deployed.api.updateWebhook({ params: { id: webhook }, body: { active: true } }));
    const [, got] = await receiver.next(2, sweptMs);
    expect(got && (await verifyWebhook({ body: got.raw, headers: got.headers, secret: secrets.kept })).deliveryId).toBe(
      deliveryId,
    );
    const [second] = await attemptsOf(deployed, webhook, 2);
    expect(second).toMatchObject({ attempt: 2, httpStatus: 204 });
  });

  it('an exhausted delivery is sent again on request', async () => {
    const { deployed, webhook, receiver, deliveryId } = exhausted;
    successOf(await deployed.api.redeliverDelivery({ params: { id: webhook, deliveryId } }));
    await receiver.next(5, sweptMs);
    const [fifth] = await attemptsOf(deployed, webhook, 5);
    expect(fifth).toMatchObject({ deliveryId, attempt: 5, httpStatus: 204, redelivery: true });
  });

  it('a dead letter is listed, and delivered after a redrive', async () => {
    const { receiver } = dead;
    const counts = JSON.parse(await operatorCommand(['dead-letters', 'list', '--json'])) as { data: object[] };
    expect(counts.data).toContainEqual({ kind: 'deliveries', count: 1, oldestSentAt: expect.any(String) });
    await operatorCommand(['dead-letters', 'redrive']);
    await receiver.next(1, arrivesWithinMs);
    expect(titlesAt(receiver)).toEqual(['Of a dead letter']);
  });

  it('all events for a slow receiver arrive', async () => {
    const { receiver, titles } = slow;
    // The emulator ends functions that it updates: attempts that they were making are made again.
    await receiver.once('each event', () => new Set(titlesAt(receiver)).size === titles.length, visibleAgainMs);
    expect([...new Set(titlesAt(receiver))]).toEqual(titles);
  });
});

describe('in the end', () => {
  it('no attempt was made twice', async () => {
    for (const { deployed, webhook, receiver } of [exhausted, parked, retrying, dead]) {
      const history = await deployed.api.listDeliveries({ params: { id: webhook }, query: 'limit=100' });
      expect(receiver.received.map(deliveryIdOf).sort()).toEqual(
        dataOf<Delivery['attempts']>(history)
          .map((one) => one.deliveryId)
          .sort(),
      );
      expect(paginationOf(history).total).toBe(receiver.received.length);
    }
  });

  it('the stack is destroyed, with all resources of both versions', async () => {
    const none = { stacks: [], roles: [], functions: [], mappings: [], tables: [], queues: [], logs: [], keys: [] };
    await destroy();
    expect(await leftovers()).toEqual(none);
  });
});
