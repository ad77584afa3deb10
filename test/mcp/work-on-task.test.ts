import { expect, it } from 'vitest';
import { startDeployment } from '../journeys/deployment.ts';
import { newToken } from '../journeys/requests.ts';
import { callTool, connect } from './mcp-client.ts';

type Data<Value> = { data: Value; etag: string };
type Found = { id: string; title: string };
type Claimed = Found & {
  status: string;
  claim: { id: string };
  reviewComments?: { text: string; review: string; author: { kind: string; name: string } }[];
};
type Entry = {
  kind: string;
  by: { kind: string; name: string };
  note?: string;
  changes?: { field: string; from: unknown; to: unknown }[];
};
type Failed = { error: { code: string } };

const service = await startDeployment();
const query = '?tools=board';
const [coderToken, adaToken] = await Promise.all([
  newToken(service, 'acme', '--name', 'claude-code', '--scopes', 'tasks:read,tasks:write'),
  newToken(service, 'acme', '--name', 'Ada Lovelace', '--person'),
]);

it('a coding agent finds a task, works on it with a subtask, answers a review, and is accepted', async () => {
  const coder = await connect({ url: service.url, token: coderToken, query });
  const ada = await connect({ url: service.url, token: adaToken, query });
  const work = <Value>(name: string, args: object = {}) => callTool<Value>(coder, name, { ...args });
  const { id } = (await callTool<Data<Found>>(ada, 'create_task', { title: 'Build the landing page' })).data;
  await callTool(ada, 'create_task', { title: 'Draw a poster' });
  const statusOf = async () => (await work<Data<Claimed>>('get_task', { id })).data.status;

  // The search finds a task about a second after its creation.
  const find = async () => (await work<Data<Found[]>>('search_tasks', { q: 'land pag' })).data.map((task) => task.id);
  await expect.poll(find, { timeout: 10_000 }).toEqual([id]);
  const ready = (await work<Data<Found[]>>('list_ready_tasks')).data.map((task) => task.id);
  expect(ready).toContain(id);

  const { claim, ...first } = (await work<Data<Claimed>>('claim_task', { id, worker: 'claude-code' })).data;
  expect(first).not.toHaveProperty('reviewComments');
  await work('comment_on_task', { id, text: 'Which **logo** is it?' });
  const part = (await work<Data<Found>>('create_task', { title: 'Export the logo' })).data;

  // Ada has changed the task after the agent has read it: the change is not lost.
  const { etag } = await work<Data<Claimed>>('get_task', { id });
  await callTool(ada, 'update_task', { id, priority: 'high', dependsOn: [] });
  const lost = await work<Failed>('update_task', { id, dependsOn: [part.id], ifMatch: etag });
  expect(lost).toMatchObject({ isError: true, error: { code: 'precondition_failed' } });
  const { etag: current } = await work<Data<Claimed>>('get_task', { id });
  const kept = await work<Data<Claimed>>('update_task', { id, dependsOn: [part.id], ifMatch: current });
  expect(kept).toMatchObject({ isError: false, data: { priority: 'high', dependsOn: [part.id] } });

  const { claim: claimOfPart } = (await work<Data<Claimed>>('claim_task', { id: part.id, worker: 'claude-code' })).data;
  await work('release_task', { id: part.id, claimId: claimOfPart.id, status: 'done' });
  await work('release_task', { id, claimId: claim.id, status: 'qa_review', note: 'Ready for a look.' });
  const waiting = await callTool<Data<Found[]>>(ada, 'list_tasks', { waiting_for: 'review' });
  expect(waiting.data.map((task) => task.id)).toEqual([id]);
  const bare = await callTool<Failed>(ada, 'review_task', { id, decision: 'send_back' });
  expect(bare).toMatchObject({ isError: true, error: { details: [{ path: 'comment' }] } });
  await callTool(ada, 'review_task', { id, decision: 'send_back', comment: 'The page is wider than a phone.' });
  expect(await statusOf()).toBe('backlog');

  const again = (await work<Data<Claimed>>('claim_task', { id, worker: 'claude-code' })).data;
  expect(again.reviewComments).toMatchObject([
    {
      text: 'The page is wider than a phone.',
      review: 'send_back',
      author: { kind: 'person', name: 'Ada Lovelace' },
    },
  ]);
  await work('comment_on_task', { id, text: 'It now fits 320 pixels.' });
  await work('release_task', { id, claimId: again.claim.id, status: 'up_for_review' });
  await callTool(ada, 'review_task', { id, decision: 'accept' });
  expect(await statusOf()).toBe('done');

  const comments = (await callTool<Data<{ text: string }[]>>(ada, 'list_comments', { id })).data;
  expect(comments.map(({ text }) => text)).toEqual([
    'Which **logo** is it?',
    'The page is wider than a phone.',
    'It now fits 320 pixels.',
  ]);
  const history = async () => (await work<Data<Entry[]>>('get_task_history', { id })).data.toReversed();
  await expect.poll(async () => (await history()).length, { timeout: 10_000 }).toBe(11);
  expect((await history()).map(({ kind, by, note }) => [kind, by.kind, by.name, note])).toEqual([
    ['created', 'person', 'Ada Lovelace', undefined],
    ['claimed', 'token', 'claude-code', 'Worker: claude-code'],
    ['commented', 'token', 'claude-code', 'Which **logo** is it?'],
    ['changed', 'person', 'Ada Lovelace', undefined],
    ['changed', 'token', 'claude-code', undefined],
    ['released', 'token', 'claude-code', 'Ready for a look.'],
    ['reviewed', 'person', 'Ada Lovelace', 'The page is wider than a phone.'],
    ['claimed', 'token', 'claude-code', 'Worker: claude-code'],
    ['commented', 'token', 'claude-code', 'It now fits 320 pixels.'],
    ['released', 'token', 'claude-code', 'claude-code has released the task.'],
    ['reviewed', 'person', 'Ada Lovelace', undefined],
  ]);
  expect((await history()).at(-1)?.changes).toEqual([{ field: 'status', from: 'up_for_review', to: 'done' }]);
});
