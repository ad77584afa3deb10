import { createConfig, lintFromString } from '@redocly/openapi-core';
import { describe, expect, it } from 'vitest';
import {
  claimId,
  deliveryId,
  dependencyId,
  eventId,
  recoveryId,
  taskId,
  webhookId,
} from '../../../lib/contract/examples.ts';
import type { Task } from '../../../lib/contract/tasks/tasks.ts';
import type { Event } from '../../../lib/contract/webhooks/event-log.ts';
import type { RecoveryStarted } from '../../../lib/contract/webhooks/recoveries.ts';
import type { DeliveryRecord } from '../../../lib/contract/webhooks/webhooks.ts';
import { dataOf } from '../../api.ts';
import { sendRequest } from '../../api-over-http.ts';
import { type Document, type ExampleRequest, exampleRequests } from '../../openapi/example-requests.ts';
import { startReceiver } from '../../sender/receiver.ts';
import { startDeployment, until } from '../deployment.ts';
import { attemptsOf, createTask, register } from '../requests.ts';

const { url, token, ...service } = await startDeployment();
const document = (await service.api.openapi()).body as unknown as Document;
const { first, further } = exampleRequests(document);
const isDelete = ({ method }: ExampleRequest) => method === 'DELETE';
/** It needs a delivery that has ended, which takes a receiver and an event. */
const isRedelivery = ({ path }: ExampleRequest) => path.endsWith('/redeliver');

/** It needs an execution that is running; on this service each has ended soon. */
const isCancellation = ({ path }: ExampleRequest) => path.endsWith('/cancel') && path.includes('/executions/');

/** It needs a recovery, which needs an event that a webhook has missed. */
const ofRecovery = ({ path }: ExampleRequest) => path.includes('/recoveries/');

/** It needs an event, which the service publishes after a change. */
const isEvent = ({ path }: ExampleRequest) => path.startsWith('/api/webhooks/events/');

/** They need a task that waits for a worker, and its claim. */
const ofClaim = ({ path }: ExampleRequest) => path.startsWith('/api/kanban-tasks/') && path.includes('/claim');

/** It needs a task that waits for a review. */
const isReview = ({ path }: ExampleRequest) => path.endsWith('/review');

/** They need a comment, which another example writes. */
const ofComment = ({ path }: ExampleRequest) => path.includes('/comments/');

/** The ids in the examples, each with the id that the service generated for it. */
const generated = new Map<string, string>();
const idPattern = /\b[a-z]+_[0-9A-HJKMNP-TV-Z]{26}\b/g;
const withGenerated = (text: string) => text.replaceAll(idPattern, (id) => generated.get(id) ?? id);
const idsIn = (value: unknown) => JSON.stringify(value).match(idPattern) ?? [];

/** The success responses, each beside the content of the document that describes it. */
const received: { content: NonNullable<ExampleRequest['success']>; body: unknown }[] = [];

/** Sends an example. Replaces only ids that the service has generated for earlier examples. */
async function send({ method, path, query, body, status, success }: ExampleRequest) {
  const answer = await sendRequest(url, {
    method,
    path: withGenerated(path),
    query,
    token,
    body: body === undefined ? undefined : withGenerated(JSON.stringify(body)),
  });
  expect([String(answer.status), answer.body]).toEqual([status, answer.body]);
  if (success) received.push({ content: success, body: answer.body });
  return answer;
}

describe('the first example of each operation works on a new service', () => {
  const dependent = [isDelete, isRedelivery, isCancellation, isEvent, ofRecovery, ofClaim, isReview, ofComment];
  const independent = first.filter((request) => !dependent.some((is) => is(request)));
  it.each(independent)('$method $path', async (request) => {
    const { body } = await send(request);
    if (request.method !== 'POST' || !request.success) return;
    const ids = idsIn(body);
    for (const [at, id] of idsIn(request.success.example).entries()) generated.set(id, ids[at] as string);
  });
});

describe('the further examples work after the first ones', async () => {
  generated.set(dependencyId, await createTask(service, 'Draw the landing page'));
  it.each(further.filter((one) => !isReview(one)))(
    '$method $path, $title',
    async (request) => void (await send(request)),
  );
});

it('the examples of claims work for a task that waits for a worker', async () => {
  const before = generated.get(taskId) ?? taskId;
  generated.set(taskId, await createTask(service, 'Build the landing page'));
  const [claim, renew, release, takeBack, next] = ['/claim', '/renew', '/release', 'DELETE', '/claim-next'].map((end) =>
    first.find(
      (one) => ofClaim(one) && (one.method === end || one.path.endsWith(end)) && (end === 'DELETE') === isDelete(one),
    ),
  ) as [ExampleRequest, ExampleRequest, ExampleRequest, ExampleRequest, ExampleRequest];
  const claimIt = async () => generated.set(claimId, dataOf<Task>(await send(claim)).claim?.id as string);
  await claimIt();
  await send(renew);
  await send(release);
  await service.api.updateTask({ params: { id: generated.get(taskId) as string }, body: { status: 'backlog' } });
  await claimIt();
  await send(takeBack);
  await send(next);
  generated.set(taskId, before);
});

it('the examples of reviews work for a task that waits for one', async () => {
  const reviews = [...first, ...further].filter(isReview);
  expect(reviews).toHaveLength(2);
  for (const request of reviews) {
    const params = { id: generated.get(taskId) as string };
    await service.api.updateTask({ params, body: { status: 'up_for_review' } });
    await send(request);
  }
});

it('the examples of a comment work for one that was written', async () => {
  const [change, remove] = first.filter(ofComment) as [ExampleRequest, ExampleRequest];
  await send(change);
  await send(remove);
});

it('the example of a redelivery works for a delivery that has ended', async () => {
  const { url: receiver } = await startReceiver();
  const id = await register(service, { url: receiver, events: ['task.created'] });
  await createTask(service, 'A task');
  const [{ deliveryId: delivered }] = (await attemptsOf(service, id, 1)) as [DeliveryRecord];
  const before = [webhookId, deliveryId].map((example) => [example, generated.get(example) ?? example] as const);
  generated.set(webhookId, id).set(deliveryId, delivered);
  const redeliveries = first.filter(isRedelivery);
  expect(redeliveries).toHaveLength(1);
  for (const request of redeliveries) await send(request);
  for (const [example, replaced] of before) generated.set(example, replaced);
});

it('the examples of a recovery work for one of an event from before its webhook', async () => {
  const before = generated.get(webhookId) as string;
  generated.set(webhookId, await register(service, { url: 'http://127.0.0.1:9/', events: ['task.created'] }));
  const recover = first.find(({ path }) => path.endsWith('/recover')) as ExampleRequest;
  const { recoveryId: started = '' } = dataOf<RecoveryStarted>((await send(recover)) as never);
  generated.set(recoveryId, started);
  const requests = first.filter(ofRecovery);
  expect(requests).toHaveLength(2);
  for (const request of requests) await send(request);
  generated.set(webhookId, before);
});

it('the example of an event works for an event in the log', async () => {
  const look = async () => dataOf<Event[]>(await service.api.listEvents())[0];
  const { id } = (await until('the log has an event', look)) as Event;
  generated.set(eventId, id);
  const events = first.filter(isEvent);
  expect(events).toHaveLength(1);
  for (const request of events) await send(request);
});

it('the example of If-Match has the form of the ETag of an item', async () => {
  const id = await createTask(service, 'A task');
  const { IfMatch } = (document as unknown as Components).components.parameters;
  const { headers } = await service.api.getTask({ params: { id } });
  const formOf = (etag = '') => etag.replaceAll(/[\w-]/g, '_');
  expect(formOf(IfMatch.schema.examples[0])).toBe(formOf(headers.ETag));
});

describe('the deletions work after all others, in reverse order', () => {
  it.each(first.filter((one) => isDelete(one) && !ofClaim(one) && !ofComment(one)).toReversed())(
    '$method $path',
    async (request) => void (await send(request)),
  );
});

it('every response has the documented form, without further fields', async () => {
  expect(received.length).toBeGreaterThan(first.length);
  for (const [at, { content, body }] of received.entries()) {
    delete content.example;
    content.examples = { ...content.examples, [`response-${at}`]: { value: body } };
  }
  const strictly = { severity: 'error', allowAdditionalProperties: false } as const;
  const config = await createConfig({ rules: { 'no-invalid-media-type-examples': strictly } });
  const problems = await lintFromString({ source: JSON.stringify(document), config });
  expect(problems.map(({ message, location: [place] }) => `${message} at ${place?.pointer}`)).toEqual([]);
});

type Components = { components: { parameters: { IfMatch: { schema: { examples: [string] } } } } };
