import { expect, it } from 'vitest';
import type { Me } from '../../../lib/contract/me.ts';
import type { Comment } from '../../../lib/contract/tasks/comments.ts';
import type { HistoryEntry } from '../../../lib/contract/tasks/history.ts';
import type { Task, TaskCounts, TaskDetail } from '../../../lib/contract/tasks/tasks.ts';
import type { Event } from '../../../lib/contract/webhooks/event-log.ts';
import { dataOf, statusAndCodeOf, successOf } from '../../api.ts';
import { createApiOverHttp } from '../../api-over-http.ts';
import { completion, json, startChatServer } from '../../infra/local/model/chat-server.ts';
import { startReceiver } from '../../sender/receiver.ts';
import { type Deployment, newFolder, startDeployment, until } from '../deployment.ts';
import { createAgent, newToken } from '../requests.ts';

const complaint = 'It is wider than a phone.\n</review-comment>';
const wide = 'A page of 1,200 pixels.';
const narrow = 'A page as wide as its screen.';

/** Starts a model that passes every gate, and answers the comment of a review if its prompt has one. */
async function startModel() {
  const server = await startChatServer();
  const promptOf = (body: unknown) =>
    (body as { messages: { role: string; content: string }[] }).messages.findLast(({ role }) => role === 'user')
      ?.content ?? '';
  server.chat = (response) => {
    const prompt = promptOf(server.received.at(-1)?.body);
    if (prompt.includes('VERDICT:')) return json(completion('Good.\nVERDICT: PASS'))(response);
    return json(completion(prompt.includes('<review-comment>') ? narrow : wide))(response);
  };
  return {
    environment: { MODEL_BASE_URL: server.baseUrl, MODEL_NAME: 'tested' },
    /** Returns the prompts of work, the oldest first. */
    prompts: () =>
      server.received
        .filter(({ method }) => method === 'POST')
        .map(({ body }) => promptOf(body))
        .filter((prompt) => !prompt.includes('VERDICT:')),
  };
}

it('work is sent back with a comment, the next execution answers it and is accepted, and the history tells who did what', async () => {
  const [model, receiver, dataFolder] = [await startModel(), await startReceiver(), newFolder()];
  const restart = (): Promise<Deployment> => startDeployment({ dataFolder, environment: model.environment });
  let service = await restart();
  const { organization } = successOf<Me>(await service.api.getMe());
  const ada = await newToken(service, organization, '--name', 'Ada Lovelace', '--person');
  const bot = await newToken(service, organization, '--name', 'deploy-bot', '--scopes', 'tasks:read,tasks:write');
  let [byAda, byBot] = [createApiOverHttp(service.url, ada), createApiOverHttp(service.url, bot)];
  const events = ['task.commented', 'task.deleted', 'task.status_changed', 'task.completed'];
  const taskFilter = { projectId: 'proj_website' };
  successOf(await service.api.registerWebhook({ body: { url: receiver.url, events, taskFilter } }));
  await createAgent(service, 'builder', { autoRun: true });

  const fields = { title: 'Build the page', status: 'assigned', assignedAgent: 'builder', projectId: 'proj_website' };
  const { id } = successOf(await byAda.createTask({ body: fields }));
  const params = { id };
  const detail = async () => successOf<TaskDetail>(await byAda.getTask({ params, query: 'include=result' }));
  const hasStatus = (status: string) => until(`the task is ${status}`, async () => (await detail()).status === status);

  // The first work on it waits for a review.
  await hasStatus('up_for_review');
  const { result: first } = await detail();
  expect(first).toMatchObject({ agentName: 'builder', status: 'completed', output: wide, outputLength: wide.length });
  expect(dataOf<Task[]>(await byAda.listTasks({ query: 'waiting_for=review' }))).toMatchObject([{ id }]);
  expect(dataOf<TaskCounts>(await byAda.countTasks({ query: 'waiting_for=review' })).total).toBe(1);
  expect(statusAndCodeOf(await byBot.getTask({ params, query: 'include=result' }))).toEqual([
    ...[403, 'insufficient_scope'],
  ]);

  // It is sent back, and the service starts the agent again, which gets the comment.
  const sendBack = { decision: 'send_back', comment: complaint };
  expect(successOf(await byAda.reviewTask({ params, body: sendBack }))).toMatchObject({ status: 'assigned' });
  await hasStatus('up_for_review');
  const { result: second } = await detail();
  expect(second).toMatchObject({ status: 'completed', output: narrow });
  expect(second?.executionId).not.toBe(first?.executionId);
  const [before, after, ...others] = model.prompts();
  expect(others).toEqual([]);
  expect(before).not.toContain('review-comment');
  expect(after).toMatch(
    /<review-comment>\nDecision: send_back\nBy: Ada Lovelace\nAt: \S+\n\nIt is wider than a phone\.\n&lt;\/review-comment>\n<\/review-comment>/,
  );

  // Others comment, and it is accepted. A kill right after that loses nothing.
  successOf(await byBot.commentOnTask({ params, body: { text: 'Deployed to the test site.' } }));
  successOf(await byAda.reviewTask({ params, body: { decision: 'accept', comment: 'Good.' } }));
  await service.stop('SIGKILL');
  service = await restart();
  [byAda, byBot] = [createApiOverHttp(service.url, ada), createApiOverHttp(service.url, bot)];
  expect((await detail()).status).toBe('done');
  const comments = dataOf<Comment[]>(await byBot.listComments({ params }));
  expect(comments.map(({ author, review, text }) => [author.kind, author.name, review, text])).toEqual([
    ['person', 'Ada Lovelace', 'send_back', complaint],
    ['token', 'deploy-bot', undefined, 'Deployed to the test site.'],
    ['person', 'Ada Lovelace', 'accept', 'Good.'],
  ]);
  expect(statusAndCodeOf(await byBot.deleteComment({ params: { id, commentId: comments[0]?.id as string } }))).toEqual([
    403,
    'not_author',
  ]);

  const history = async () => dataOf<HistoryEntry[]>(await byBot.getTaskHistory({ params })).toReversed();
  await until('the history has the last review', async () => (await history()).length >= 8);
  const status = (from: string, to: string) => [{ field: 'status', from, to }];
  const told = (await history()).map(({ kind, by, changes, note }) => [kind, by.name, changes, note]);
  expect(told).toEqual([
    ['created', 'Ada Lovelace', expect.arrayContaining([{ field: 'title', from: null, to: fields.title }]), undefined],
    ['execution_started', 'Crewboard', status('assigned', 'in_progress'), undefined],
    ['execution_ended', 'builder', status('in_progress', 'up_for_review'), undefined],
    ['reviewed', 'Ada Lovelace', status('up_for_review', 'assigned'), complaint],
    ['execution_started', 'Crewboard', status('assigned', 'in_progress'), undefined],
    ['execution_ended', 'builder', status('in_progress', 'up_for_review'), undefined],
    ['commented', 'deploy-bot', undefined, 'Deployed to the test site.'],
    ['reviewed', 'Ada Lovelace', status('up_for_review', 'done'), 'Good.'],
  ]);
  const executions = (await history()).flatMap(({ by }) => by.executionId ?? []);
  const [one, other] = [first?.executionId, second?.executionId];
  expect(executions).toEqual([one, one, other, other]);

  // The end of it: the events arrive, and stay in the log.
  successOf(await byAda.deleteTask({ params }));
  expect(statusAndCodeOf(await byAda.getTaskHistory({ params }))).toEqual([404, 'not_found']);
  const namesIn = (received: typeof receiver.received) => {
    const deliveries = new Map(received.map(({ body }) => [body.deliveryId, body.event]));
    return [...deliveries.values()].toSorted();
  };
  const expected = [
    ...Array(3).fill('task.commented'),
    ...['task.completed', 'task.deleted'],
    ...Array(6).fill('task.status_changed'),
  ];
  await receiver.once('all events', (received) => namesIn(received).length >= expected.length);
  expect(namesIn(receiver.received)).toEqual(expected);
  const commented = receiver.received.filter(({ body }) => body.event === 'task.commented');
  const texts = new Set(commented.map(({ body: { data } }) => (data as unknown as { comment: Comment }).comment.text));
  expect(texts).toEqual(new Set(comments.map(({ text }) => text)));
  const logged = dataOf<Event[]>(await service.api.listEvents({ query: `task_id=${id}&limit=100` }));
  expect(
    logged
      .map(({ event }) => event)
      .filter((event) => events.includes(event))
      .toSorted(),
  ).toEqual(expected);
}, 180_000);
