import type { DynamoDBRecord } from 'aws-lambda';
import * as v from 'valibot';
import { expect, onTestFinished, vi } from 'vitest';
import { handler as deliverWebhook } from '../../../functions/pipeline/deliver-webhook.ts';
import { handler as publishEvents } from '../../../functions/pipeline/publish-events.ts';
import { handler as runExecution } from '../../../functions/pipeline/run-execution.ts';
import { contextOf } from '../../../infra/local/functions.ts';
import { processContext } from '../../../lib/context/context.ts';
import { timestamp, ulidOf } from '../../../lib/contract/ids.ts';
import { DeliveryMessage } from '../../../lib/names/messages.ts';
import { type Key, organizationOf } from '../../../lib/table/access/keys.ts';
import { getItem } from '../../../lib/table/access/reads.ts';
import type { Item } from '../../../lib/table/access/write.ts';
import { agentKind } from '../../../lib/table/agents/agent-items.ts';
import { isTurnToCount } from '../../../lib/table/deliveries/attempt-counts.ts';
import { attemptKey, retryOf } from '../../../lib/table/deliveries/attempt-items.ts';
import { placeOf } from '../../../lib/table/deliveries/attempt-log.ts';
import { eventCheckPartition } from '../../../lib/table/deliveries/event-checks.ts';
import { leaseExecution, renewLease } from '../../../lib/table/executions/executions.ts';
import { type Overdue, postponeDue, readDue } from '../../../lib/table/lists/due.ts';
import { commentKind } from '../../../lib/table/tasks/comments.ts';
import { deletedTaskKind } from '../../../lib/table/tasks/deleted-tasks.ts';
import { ownEventKind } from '../../../lib/table/webhooks/own-events.ts';
import { leaseSlowAttempt, markWebhookSlow } from '../../../lib/table/webhooks/webhook-attempts.ts';
import { sentForm } from '../../../lib/webhooks/attempts/attempt-messages.ts';
import { publishEvents as publishChange } from '../../../lib/webhooks/deliveries/publish-events.ts';
import { runJob } from '../../functions/pipeline/call-functions.ts';
import type { TestPipeline } from '../../functions/pipeline/test-pipeline.ts';
import { streamed } from '../../table-stream.ts';
import { createChange } from '../../webhooks/test-webhooks.ts';
import { queueEvent } from '../../workers/queue-event.ts';
import { type TestOrganization, text } from '../test-organization.ts';
import { agentScenarios, executed, newAgent, onTask } from './agent-scenarios.ts';
import { answeringReceiver, missedFive, register, registered, secret } from './webhook-scenarios.ts';

/** A receiver that does not answer. */
const unreachableUrl = 'https://127.0.0.1:8443/unreachable';

type Act = () => Promise<unknown>;

/** Waits for the response to a batch, in which no message may have failed. */
async function batch(name: string, answer: Promise<{ batchItemFailures: unknown[] }>): Promise<void> {
  const { batchItemFailures } = await answer;
  if (batchItemFailures.length > 0) throw new Error(`${name} failed for ${JSON.stringify(batchItemFailures)}`);
}

const publish = (records: readonly DynamoDBRecord[]) =>
  batch('publishEvents', publishEvents({ Records: [...records] }, contextOf('publishEvents', 60)));
const deliver = (bodies: readonly string[]) =>
  batch('deliverWebhook', deliverWebhook(queueEvent(bodies), contextOf('deliverWebhook', 30)));
const run = (bodies: readonly string[]) =>
  batch('runExecution', runExecution(queueEvent(bodies), contextOf('runExecution', 660)));

/** Returns the stream records of a caller's items of a kind, in order. */
async function changesOf({ service, organization }: TestOrganization, kind: string): Promise<DynamoDBRecord[]> {
  const records = await streamed(service, kind);
  return records.filter(({ dynamodb }) => dynamodb?.Keys?.pk?.S?.startsWith(`O#${organization}#`));
}

/** Returns the stream records of the start and of the end of an execution. */
async function startAndEnd(caller: TestOrganization): Promise<DynamoDBRecord[]> {
  await newAgent(caller);
  const id = await executed(caller, 1);
  const changes = (await changesOf(caller, 'execution')).filter(({ dynamodb }) =>
    dynamodb?.Keys?.pk?.S?.includes(ulidOf(id)),
  );
  return [...changes.slice(0, 1), ...changes.slice(-1)];
}

/** Stops the clocks of the process. Both, because a difference between them would count as a step of the clock. */
function stopClock(): { time: number; goOn: () => void } {
  const time = Date.now();
  const clocks = (['clock', 'monotonic'] as const).map((name) =>
    vi.spyOn(processContext(), name).mockReturnValue(time),
  );
  const goOn = () => {
    for (const clock of clocks) clock.mockRestore();
  };
  return { time, goOn };
}

/** Lets every receiver of the process respond at once, without a network. Returns a function that ends it. */
function withoutNetwork(): () => void {
  const { sender } = processContext();
  processContext().sender = async () => ({ httpStatus: 204, durationMs: 150, timedOut: false, responseBody: '' });
  return () => {
    processContext().sender = sender;
  };
}

/**
 * Publishes changes at the time at which they are made, however slow the machine is: an event that is published half a second
 * later takes a request more.
 */
const publishing =
  (recordsOf: (caller: TestOrganization) => Promise<DynamoDBRecord[]>) => async (caller: TestOrganization) => {
    onTestFinished(stopClock().goOn);
    const records = await recordsOf(caller);
    return () => publish(records);
  };

/** Returns the scenarios of the pipeline by function: each prepares the table, and returns the call to measure. */
export function pipelineScenarios({ receive }: TestPipeline) {
  const created = async (
    caller: TestOrganization,
    { webhooks = 0, fields }: { webhooks?: number; fields?: object | undefined } = {},
  ): Promise<DynamoDBRecord[]> => {
    for (let nth = 0; nth < webhooks; nth++) await register(caller, fields);
    await caller.ask('createTask', { body: { title: 'A task', description: text } });
    return (await changesOf(caller, 'task')).slice(-1);
  };

  /** Returns the change of a task by a request. */
  const changed = async (caller: TestOrganization, body: object): Promise<DynamoDBRecord[]> => {
    await created(caller);
    const [{ id = '' } = {}] = await caller.ask<{ id: string }[]>('listTasks');
    await caller.ask('updateTask', { params: { id }, body });
    return (await changesOf(caller, 'task')).slice(-1);
  };

  /** Returns the change of a new task after one of the same five minutes, whose check is planned. */
  const createdNext = async (caller: TestOrganization, webhooks: number) => {
    await publish(await created(caller, { webhooks }));
    return created(caller);
  };

  /** Returns the changes of ten new tasks, whose check is planned. */
  const createdTen = async (caller: TestOrganization) => {
    await publish(await created(caller));
    for (let nth = 0; nth < 10; nth++) await created(caller);
    return (await changesOf(caller, 'task')).slice(-10);
  };

  /** Returns the checks of a caller's events in the sweeper's index. */
  const checksOf = async ({ service, organization }: TestOrganization): Promise<Overdue[]> => {
    const checks = await Array.fromAsync(readDue(service, [eventCheckPartition], '9999-12-31T23:59:59.999Z'));
    return checks.filter(({ key }) => organizationOf(key.pk) === organization);
  };

  /** Returns the message of a new task's only delivery, which does not count the attempts of its webhook. */
  const awaitedNext = async (caller: TestOrganization) => {
    let messages: string[];
    do {
      await publish(await created(caller));
      // Messages of other scenarios can become visible late, such as messages of a recovery.
      messages = await taken(caller);
    } while (messages.some((body) => isTurnToCount(JSON.parse(body).deliveryId)));
    return messages;
  };

  /** Returns the messages of the deliveries of ten new tasks, none of which counts the attempts of its webhook. */
  const awaitedTen = async (caller: TestOrganization) => {
    await register(caller);
    const messages: string[] = [];
    while (messages.length < 10) {
      await publish(await createdTen(caller));
      messages.push(...(await taken(caller)).filter((body) => !isTurnToCount(JSON.parse(body).deliveryId)));
    }
    return messages.slice(0, 10);
  };

  /** Returns the messages of a caller that wait in the queue of first attempts. */
  const taken = async ({ organization }: TestOrganization) =>
    (await receive()).filter((body) => JSON.parse(body).organization === organization);

  /** Makes a delivery, and requests that it is made again. */
  const redelivered = async (caller: TestOrganization) => {
    const messages = await awaited(caller);
    await deliver(messages);
    const { webhookId: id, deliveryId } = JSON.parse(messages[0] ?? '{}');
    await caller.ask('redeliverDelivery', { params: { id, deliveryId } });
  };

  /** Registers a webhook, and returns the message of a new task's delivery. */
  const awaited = async (caller: TestOrganization, { url, ...signed }: { url?: string; secret?: string } = {}) => {
    await register(caller, url ? { url, ...signed } : undefined);
    return awaitedNext(caller);
  };

  /** Returns the message of the next delivery to an unreachable receiver, after a number of failed deliveries. */
  const awaitedAfter = async (caller: TestOrganization, failed: number): Promise<string[]> => {
    let messages = await awaited(caller, { url: unreachableUrl });
    for (let nth = 0; nth < failed; nth++) {
      await deliver(messages);
      messages = await awaitedNext(caller);
    }
    return messages;
  };

  const delivering = async (awaited: Promise<string[]>) => {
    const messages = await awaited;
    return () => deliver(messages);
  };

  const rowOf = async ({ service }: TestOrganization, body: string): Promise<Item> =>
    (await getItem(service.table, attemptKey(placeOf(v.parse(DeliveryMessage, JSON.parse(body)))))) ?? {};

  const accepted = async (
    caller: TestOrganization,
    asked: Promise<object> = agentScenarios.executeAgent['without a task'](caller),
  ): Promise<string[]> => {
    const { executionId } = await caller.ask<{ executionId: string }>('executeAgent', await asked);
    return [JSON.stringify({ organization: caller.organization, executionId })];
  };

  /** Adds a task that is done after an execution, and returns its id. */
  const finishedTask = async (caller: TestOrganization): Promise<string> => {
    const asked = await onTask({ assignedAgent: 'writer' })(caller);
    await run(await accepted(caller, Promise.resolve(asked)));
    const { taskId } = asked.body;
    await caller.ask('updateTask', { params: { id: taskId }, body: { status: 'done' } });
    return taskId;
  };

  const running = async (accepted: Promise<string[]>) => {
    const messages = await accepted;
    return () => run(messages);
  };

  const purging = (executions: number) => async (caller: TestOrganization) => {
    const { params } = await newAgent(caller);
    await executed(caller, executions);
    await caller.ask('deleteAgent', { params });
    return () => runJob('purges');
  };

  return {
    // First, because a sweep covers all organizations.
    sweepOverdue: {
      'no delivery overdue': async () => () => runJob('deliveries'),
      'no execution overdue': async () => () => runJob('executions'),
      'no recovery due': async () => () => runJob('recoveries'),
      'a recovery of five events': async (caller) => {
        await caller.ask('recoverWebhook', await missedFive(caller));
        return () => runJob('recoveries');
      },
      'a heartbeat': async () => () => runJob('heartbeat'),
      'a check of one event': async (caller) => {
        await deliver(await awaited(caller));
        const [check = expect.fail('no check')] = await checksOf(caller);
        await postponeDue(caller.service, check, timestamp(processContext().clock()));
        return () => runJob('deliveries');
      },
      'a check of a hundred events': async (caller) => {
        await register(caller);
        // At one moment, so that all events have one check, and no attempt is late.
        const { time, goOn } = stopClock();
        const changes = Array.from({ length: 100 }, () =>
          createChange(caller.organization, 'task.created', time, `tk_${processContext().ulid()}`),
        );
        for (const change of changes) await publishChange(processContext(), change);
        // A longer duration takes more bytes, and a hundred of them another read unit.
        const connect = withoutNetwork();
        await deliver(await receive());
        connect();
        goOn();
        const [check = expect.fail('no check')] = await checksOf(caller);
        await postponeDue(caller.service, check, timestamp(processContext().clock()));
        return () => runJob('deliveries');
      },
      'a retry overdue': async (caller) => {
        const [body = ''] = await awaited(caller, { url: unreachableUrl });
        await deliver([body]);
        const { pk, sk, dueAt } = (await rowOf(caller, body)) as Key & { dueAt: string };
        // Five minutes before its time.
        await postponeDue(caller.service, { key: { pk, sk }, dueAt }, timestamp(processContext().clock()));
        return () => runJob('deliveries');
      },
    },
    publishEvents: {
      'a new task without subscribers': publishing((caller) => created(caller)),
      'a new task with a subscriber': publishing((caller) => createdNext(caller, 1)),
      'a new task with a subscriber, the first of five minutes': publishing((caller) =>
        created(caller, { webhooks: 1 }),
      ),
      'a new task with ten subscribers': publishing((caller) => createdNext(caller, 10)),
      'ten new tasks with a subscriber': publishing(async (caller) => {
        await register(caller);
        return createdTen(caller);
      }),
      'a new task that its only subscriber filters out': publishing((caller) =>
        created(caller, {
          webhooks: 1,
          fields: { taskFilter: { projectId: 'proj_website', assignedAgent: 'writer' } },
        }),
      ),
      'a change that is no event': publishing((caller) => changed(caller, { description: 'Another' })),
      'another title': publishing((caller) => changed(caller, { title: 'Another' })),
      'a comment': publishing(async (caller) => {
        const { id } = await caller.ask('createTask', { body: { title: 'A task' } });
        await caller.ask('commentOnTask', { params: { id }, body: { text } });
        return changesOf(caller, commentKind);
      }),
      'a deletion, without comments': publishing(async (caller) => {
        const { id } = await caller.ask('createTask', { body: { title: 'A task' } });
        await caller.ask('deleteTask', { params: { id } });
        return changesOf(caller, deletedTaskKind);
      }),
      'a change of an agent': publishing(async (caller) => {
        await caller.ask('updateAgent', { params: { name: 'qa-reviewer' }, body: { displayName: 'Another' } });
        return (await changesOf(caller, agentKind)).slice(-1);
      }),
      'the start of an execution': publishing(async (caller) => (await startAndEnd(caller)).slice(0, 1)),
      'the end of an execution': publishing(async (caller) => (await startAndEnd(caller)).slice(1)),
      'a pause of a webhook': publishing(async (caller) => {
        const { params } = await registered(caller);
        // Plans the check of the events.
        await publish(await created(caller));
        await caller.ask('updateWebhook', { params, body: { active: false } });
        return changesOf(caller, ownEventKind);
      }),
      'a heartbeat': publishing(async ({ service }) => {
        await runJob('heartbeat');
        return (await streamed(service, 'heartbeat')).slice(-1);
      }),
      'a redelivery': async (caller) => {
        await redelivered(caller);
        const records = await changesOf(caller, 'redelivery');
        return () => publish(records);
      },
      'a recovery': publishing(async (caller) => {
        await caller.ask('recoverWebhook', await missedFive(caller));
        return changesOf(caller, 'recovery');
      }),
    },
    deliverWebhook: {
      delivered: (caller) => delivering(awaited(caller)),
      'ten delivered': async (caller) => {
        const messages = await awaitedTen(caller);
        // Attempts that end at the same time are stored by one request.
        onTestFinished(withoutNetwork());
        return () => deliver(messages);
      },
      'delivered, with a body in the response': (caller) =>
        delivering(awaited(caller, { url: answeringReceiver.url, secret })),
      'delivered in the overlap of a rotation': async (caller) => {
        const messages = await awaited(caller);
        const [body = '{}'] = messages;
        const params = { id: JSON.parse(body).webhookId };
        await caller.ask('rotateWebhookSecret', { params, body: { secret: 'the next secret' } });
        return () => deliver(messages);
      },
      'delivered at a maximum rate': async (caller) => {
        const messages = await awaited(caller);
        const [body = '{}'] = messages;
        const params = { id: JSON.parse(body).webhookId };
        await caller.ask('updateWebhook', { params, body: { maxPerSecond: 1 } });
        return () => deliver(messages);
      },
      'received again, after 100 s without a lease of its slow receiver': async (caller) => {
        const [body = '{}'] = await awaited(caller);
        const message = JSON.parse(body);
        const { clock, attemptLimits } = processContext();
        await markWebhookSlow(caller.service, caller.organization, message.webhookId);
        const [now, until] = [timestamp(clock()), timestamp(clock() + 20_000)];
        for (let number = 0; number < attemptLimits.slow; number++)
          await leaseSlowAttempt(caller.service, caller.organization, message.webhookId, { number, now, until });
        const due = timestamp(clock() - 100_000);
        return () => deliver([JSON.stringify({ ...message, due, slow: true })]);
      },
      'not delivered': (caller) => delivering(awaited(caller, { url: unreachableUrl })),
      'a redelivery': async (caller) => {
        await redelivered(caller);
        await publish(await changesOf(caller, 'redelivery'));
        return delivering(taken(caller));
      },
      'an order to continue a recovery of five events': async (caller) => {
        await caller.ask('recoverWebhook', await missedFive(caller));
        await publish(await changesOf(caller, 'recovery'));
        return delivering(taken(caller));
      },
      'not delivered, the third in a row': (caller) => delivering(awaitedAfter(caller, 2)),
      'not delivered to a failing webhook': (caller) => delivering(awaitedAfter(caller, 3)),
      'delivered before': async (caller) => {
        const messages = await awaited(caller);
        await deliver(messages);
        return () => deliver(messages);
      },
      'received early': async (caller) => {
        const [body = ''] = await awaited(caller, { url: unreachableUrl });
        await deliver([body]);
        // The queue keeps the retry from view until it is due.
        const retry = retryOf(await rowOf(caller, body)) as DeliveryMessage;
        return () => deliver([JSON.stringify(sentForm(retry))]);
      },
    },
    runExecution: {
      'without a task': (caller) => running(accepted(caller)),
      'with a task': (caller) => running(accepted(caller, onTask({ assignedAgent: 'writer' })(caller))),
      'with a task that depends on two finished ones': async (caller) => {
        const dependsOn = [await finishedTask(caller), await finishedTask(caller)];
        return running(accepted(caller, onTask({ assignedAgent: 'writer', dependsOn })(caller)));
      },
      'of an agent that ran before': async (caller) => {
        await newAgent(caller);
        await executed(caller, 1);
        return running(accepted(caller));
      },
      'executed before': async (caller) => {
        const messages = await accepted(caller);
        await run(messages);
        return () => run(messages);
      },
      // Without a worker, which renews only after ten seconds.
      'a renewal of the lease': async (caller) => {
        const [message = '{}'] = await accepted(caller);
        const { organization, executionId: id } = JSON.parse(message);
        const [now = '', until = '', longer = ''] = [0, 30_000, 40_000].map((later) =>
          timestamp(processContext().clock() + later),
        );
        const leased = await leaseExecution(caller.service, { organization, id }, { leaseId: 'first', now, until });
        if (!leased) throw new Error('The execution is leased already.');
        return () => renewLease(caller.service, leased, longer);
      },
    },
    purgeAgent: {
      'no purge due': async () => () => runJob('purges'),
      'without executions': purging(0),
      'with an execution': purging(1),
    },
  } satisfies Record<string, Record<string, (caller: TestOrganization) => Promise<Act>>>;
}
