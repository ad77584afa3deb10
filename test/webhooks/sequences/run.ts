import { vi } from 'vitest';
import { ApiError } from '../../../lib/contract/errors.ts';
import { timestamp, ulidOf } from '../../../lib/contract/ids.ts';
import { missedKinds } from '../../../lib/contract/webhooks/recoveries.ts';
import type { WebhookPatch } from '../../../lib/contract/webhooks/webhooks.ts';
import { readRecoveryLock } from '../../../lib/table/recoveries/recoveries.ts';
import { insertWebhook, readWebhook } from '../../../lib/table/webhooks/webhooks.ts';
import { cancelRecovery, recoverWebhook } from '../../../lib/webhooks/recoveries/recovery.ts';
import { redeliverDelivery } from '../../../lib/webhooks/redelivery.ts';
import { rotateWebhookSecret } from '../../../lib/webhooks/secret-rotation.ts';
import { deleteWebhook, updateWebhook } from '../../../lib/webhooks/webhooks.ts';
import { startTime } from '../test-webhooks.ts';
import { createProcess } from './calls.ts';
import { checkEnd, checkPosts, checkRecovered, readLost } from './invariants.ts';
import type { Sequence, Step } from './sequence.ts';
import { type Answer, type Service, startAwsService, startLocalService } from './services.ts';
import {
  createWorld,
  deliveryOf,
  moment,
  type Received,
  type SendVia,
  type TestWebhook,
  type World,
  wait,
} from './world.ts';

/** The longest time after the last step until no work remains, by the retry schedule and all delays; in milliseconds. */
const restMs = 4 * 60 * 60_000;

/** The longest time until a request is carried out that is sent again and again, in milliseconds. */
const requestsMs = 10 * 60_000;

/** A time before all events of a sequence, whose clock can be set back several times; Unix time, in ms. */
const beforeEvents = startTime - 24 * 60 * 60_000;

/** The time after which all leases have expired, in milliseconds. */
const leasesMs = 25_000;

/** What is wrong after a sequence, in sentences, and the posts that the receivers have got. */
type Outcome = { wrong: string[]; received: readonly Received[] };

/** Runs a sequence in virtual time. After the steps all receivers are healthy and all webhooks active. */
export async function runSequence(sequence: Sequence, via?: SendVia): Promise<Outcome> {
  const toFake = ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date', 'performance'] as const;
  vi.useFakeTimers({ now: startTime, toFake: [...toFake] });
  try {
    const world = createWorld(sequence, via);
    return { wrong: await carryOut(world, sequence), received: world.received };
  } finally {
    vi.useRealTimers();
  }
}

async function carryOut(world: World, sequence: Sequence): Promise<string[]> {
  const service = sequence.deployment === 'local' ? startLocalService(world) : startAwsService(world);
  const simulation = simulate(world, service);
  for (const webhook of world.webhooks) await simulation.run(register(world, webhook));
  // Changes are after the registration, also by the clock of the log, which starts with the process.
  await simulation.run(wait(10));
  await simulation.run(carryOutSteps(world, service, sequence.steps));
  const healedAt = moment();
  const isAtRest = await simulation.rest();
  const state = isAtRest ? [] : [`Some work never ends: ${simulation.describe()}`];
  await simulation.run(wait(leasesMs));
  const wrong = [...state, ...world.wrong, ...checkPosts(world), ...(await checkEnd(world, sequence, healedAt))];
  if (wrong.length > 0) return wrong;
  for (const webhook of world.webhooks)
    await simulation.run(requestUntilDone(world, service, webhook, (context) => recover(world, context, webhook)));
  if (!(await simulation.rest())) return [`Some work of a recovery never ends: ${simulation.describe()}`];
  await simulation.run(wait(leasesMs));
  return [...world.wrong, ...(await checkRecovered(world))];
}

async function register(
  { context, organization }: World,
  { id, events, rates, autoRecover }: TestWebhook,
): Promise<void> {
  const maxPerSecond = rates[0]?.any[0];
  const webhook = {
    id,
    url: `https://example.com/${id}`,
    events,
    active: true,
    createdAt: timestamp(startTime),
    ...(maxPerSecond && { maxPerSecond }),
    ...(autoRecover && { autoRecover }),
  };
  await insertWebhook(context(createProcess(), new Map()), organization, webhook, undefined, undefined);
}

/** Moves the virtual time of a world: carries out all calls, then goes to the next timer. */
function simulate(world: World, service: Service) {
  const { table, calls } = world;
  const { everyMs, run, isDone } = service.sweep;
  let sweptAt = moment();
  let timer: NodeJS.Timeout | undefined;

  return {
    /** Moves the time until the work is done. */
    async run(work: Promise<unknown>): Promise<void> {
      let done = false;
      void work.finally(() => {
        done = true;
      });
      for (;;) {
        await calls.drain();
        if (done) return work as Promise<void>;
        moveOn();
      }
    },

    /** Moves the time until no work remains; returns false if some always does. */
    async rest(): Promise<boolean> {
      const until = moment() + restMs;
      for (;;) {
        await calls.drain();
        if (service.isIdle() && isDone() && table.earliestDue() === Number.POSITIVE_INFINITY) return true;
        if (moment() > until) return false;
        moveOn();
      }
    },

    describe: () => `${service.describe()}; due: ${table.earliestDue() - Date.now()} ms from now`,
  };

  function moveOn(): void {
    planSweep();
    if (vi.getTimerCount() === 0) throw new Error(`Nothing happens any more: ${service.describe()}`);
    vi.advanceTimersToNextTimer();
  }

  /** Plans the next sweep that finds an item. A sweep that finds nothing changes nothing, so it is left out. */
  function planSweep(): void {
    clearTimeout(timer);
    const dueAt = table.earliestDue();
    if (dueAt === Number.POSITIVE_INFINITY || !isDone()) return;
    const earliest = Math.max(sweptAt + 1, moment() + dueAt - Date.now());
    const at = Math.ceil(earliest / everyMs) * everyMs;
    timer = setTimeout(() => {
      sweptAt = moment();
      run();
    }, at - moment());
  }
}

async function carryOutSteps(world: World, service: Service, steps: readonly Step[]): Promise<void> {
  const begun: Promise<unknown>[] = [];
  for (const step of steps) {
    if (step.after === 'answer') await begun.at(-1);
    else if (step.after !== 'at once') await wait(step.after);
    begun.push(carryOutStep(world, service, step));
  }
  await wait(1_000);
  await Promise.all(begun);
  world.calls.clear();
  for (const webhook of world.webhooks) webhook.receiver = { mode: 'healthy' };
  for (const webhook of world.webhooks)
    await requestUntilDone(world, service, webhook, (context) => update(world, context, webhook, { active: true }));
}

type Request = Parameters<Service['request']>[0];
type RequestContext = Parameters<Request>[0];

/** Pauses or resumes a webhook, and notes when. */
async function setActive(world: World, { request }: Service, webhook: TestWebhook, active: boolean): Promise<Answer> {
  const pause = { from: moment(), until: Number.POSITIVE_INFINITY, isDone: false };
  if (!active) webhook.pauses.push(pause);
  const ends = webhook.pauses.filter(({ isDone }) => isDone);
  const answer = await request((context) => update(world, context, webhook, { active }));
  pause.isDone = answer === 'done';
  if (active && answer === 'done') for (const end of ends) end.until = Math.min(end.until, moment());
  return answer;
}

const update = ({ organization }: World, context: RequestContext, { id }: TestWebhook, patch: WebhookPatch) =>
  updateWebhook(context, organization, id, patch, () => {});

const recover = ({ organization }: World, context: RequestContext, { id }: TestWebhook) =>
  recoverWebhook(context, organization, id, { since: beforeEvents, include: [...missedKinds] }, undefined);

/** Requests something of a webhook again and again until it is done, unless the webhook is deleted. */
async function requestUntilDone(world: World, service: Service, webhook: TestWebhook, run: Request): Promise<void> {
  let answer: Answer = 'lost';
  for (const until = moment() + requestsMs; moment() < until; await wait(500)) {
    if (!(await readWebhook(world.reader, world.organization, webhook.id))) return;
    answer = await service.request(run);
    if (answer === 'done') return;
  }
  world.wrong.push(
    `A request of ${webhook.id} is never carried out: ${typeof answer === 'string' ? answer : answer.error}`,
  );
}

async function carryOutStep(world: World, service: Service, step: Step): Promise<void> {
  const { organization, calls } = world;
  const { request } = service;
  switch (step.does) {
    case 'publish': {
      const answer = await request(async (context) => {
        const times = Array.from({ length: step.events }, () => ({ time: context.clock(), at: moment() }));
        // Some requests read before they write.
        if (calls.random() < 1 / 2) await readWebhook(context, organization, world.webhookAt(0).id);
        await context.table.beforeWrite?.();
        for (const time of times) world.commit(step.event, time);
      });
      return note(world, answer);
    }
    case 'strike':
      return calls.strike(step);
    case 'crash':
      return service.crash();
    case 'stop':
      return service.stop();
    case 'publish again':
      return service.publishAgain();
    case 'lose':
      return service.lose();
    case 'duplicate':
      return service.duplicate();
    case 'redrive':
      return service.redrive();
    case 'sweep':
      return service.sweep.run();
    case 'step clock':
      return world.stepClock(step.seconds * 1000, (time) => vi.setSystemTime(time));
  }
  const webhook = world.webhookAt(step.webhook);
  switch (step.does) {
    case 'set receiver':
      webhook.receiver = { mode: step.mode };
      return;
    case 'pause and resume':
      note(world, await setActive(world, service, webhook, false));
      return note(world, await setActive(world, service, webhook, true));
    case 'pause':
    case 'resume':
      return note(world, await setActive(world, service, webhook, step.does === 'resume'));
    case 'patch':
      return note(
        world,
        await request((context) => update(world, context, webhook, { url: `https://example.com/${moment()}` })),
      );
    case 'rotate': {
      const secret = { text: `secret ${webhook.secrets.length}`, from: moment(), storedAt: Number.POSITIVE_INFINITY };
      webhook.secrets.push(secret);
      const rotation = { id: webhook.id, secret: secret.text, overlapSeconds: 60 };
      const answer = await request((context) => rotateWebhookSecret(context, organization, rotation, undefined));
      if (answer === 'done') secret.storedAt = moment();
      return note(world, answer);
    }
    case 'recover': {
      const lost = await readLost(world, webhook);
      let matched = 0;
      const answer = await request(async (context) => {
        ({ matched } = await recover(world, context, webhook));
      });
      // Others may arrive in the meantime.
      const still = new Set(await readLost(world, webhook));
      const found = lost.filter((deliveryId) => still.has(deliveryId)).length;
      if (answer === 'done' && matched < found)
        world.wrong.push(`A recovery of ${webhook.id} counts ${matched} events, but ${found} are lost`);
      return note(world, answer);
    }
    case 'cancel': {
      const lock = await readRecoveryLock(world.reader, organization, webhook.id);
      if (!lock) return;
      const { recoveryId } = lock;
      const answer = await request(async (context) => {
        await cancelRecovery(context, organization, webhook.id, recoveryId, undefined);
      });
      if (answer === 'done') world.cancelled.set(ulidOf(recoveryId), moment());
      return note(world, answer);
    }
    case 'redeliver': {
      const event = world.events[step.event % world.events.length];
      if (!event) return;
      const deliveryId = deliveryOf(event, webhook);
      webhook.requested.add(deliveryId);
      const delivery = { webhookId: webhook.id, deliveryId };
      const isLost = async () => (await readLost(world, webhook, [event])).length > 0;
      const wasLost = await isLost();
      const answer = await request((context) => redeliverDelivery(context, organization, delivery, undefined));
      const isRefused = typeof answer !== 'string' && (answer.error as ApiError).code === 'delivery_in_progress';
      if (isRefused && wasLost && (await isLost())) world.wrong.push(`${deliveryId} is lost, and is not sent again`);
      return note(world, answer);
    }
    case 'set rate': {
      const { maxPerSecond } = step;
      const before = webhook.rates.at(-1)?.any ?? [];
      const begun = { from: moment(), any: [...before, maxPerSecond] };
      const isAlone = webhook.rateChanges === 0;
      webhook.rates.push(begun);
      webhook.rateChanges++;
      const answer = await request((context) => update(world, context, webhook, { maxPerSecond }));
      webhook.rateChanges--;
      // It is not known which of two changes at the same time was the last one.
      const isLast = answer === 'done' && isAlone && webhook.rates.at(-1) === begun;
      if (isLast) webhook.rates.push({ from: moment(), any: [maxPerSecond] });
      return note(world, answer);
    }
    case 'delete': {
      const answer = await request((context) => deleteWebhook(context, organization, webhook.id, () => {}));
      if (answer === 'done') webhook.deletedAt = moment();
      return note(world, answer);
    }
  }
}

/** Notes an answer that a caller must not get. */
function note(world: World, answer: Answer): void {
  if (typeof answer === 'string') return;
  const { error } = answer;
  const isExpected = error instanceof ApiError && error.status < 500;
  if (!isExpected && world.calls.struck() === 0) world.wrong.push(`A request failed: ${error}`);
}
