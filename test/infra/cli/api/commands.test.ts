import { beforeAll, describe, expect, it, vi } from 'vitest';
import { eventNames } from '../../../../lib/contract/webhooks/events.ts';
import { startDeployment } from '../../../journeys/deployment.ts';
import { createAgent, createTask, newScript } from '../../../journeys/requests.ts';
import { startReceiver } from '../../../sender/receiver.ts';
import type { Result } from '../in-process.ts';
import { crewboard } from './crewboard.ts';

const script = newScript([
  { match: 'impossible', error: 'ValidationException' },
  { match: 'for an hour', text: 'Done.', delayMs: 600_000 },
]);
const service = await startDeployment({ environment: { MODEL_SCRIPT: script } });
const connection = { CREWBOARD_URL: service.url, CREWBOARD_TOKEN: service.token };
const run = (...args: string[]) => crewboard(args, connection);

/** Runs a command that must succeed, and returns its standard output. */
async function output(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await run(...args);
  expect([code, stderr]).toEqual([0, '']);
  return stdout.trimEnd();
}
const json = async (...args: string[]) => JSON.parse(await output(...args, '--json'));

/** The parts of a result that failed without output. */
const failure = (stderr: unknown): Result => ({ code: 1, stdout: '', stderr: stderr as string });

beforeAll(async () => {
  await createAgent(service, 'builder');
});

describe('tasks', () => {
  it('creates a task, shows it, moves it and completes it', async () => {
    const first = await createTask(service, 'Draw the landing page');
    const options = ['--priority', 'high', '--agent', 'builder', '--project', 'proj_site', '--depends-on', first];
    const id = await output('tasks', 'add', 'Build it', '--description', 'On a phone\ntoo.', ...options);
    expect(id).toMatch(/^tk_\w{26}$/);
    const time = String.raw`\d{4}-\d\d-\d\dT[\d:.]+Z`;
    expect(await output('tasks', 'show', id)).toMatch(
      new RegExp(
        [
          `^id           ${id}`,
          'title        Build it',
          'status       backlog',
          'priority     high',
          'agent        builder',
          'project      proj_site',
          `depends on   ${first}  backlog  Draw the landing page`,
          `blocked by   ${first}  backlog  Draw the landing page`,
          `created      ${time}`,
          `updated      ${time}`,
          'description  On a phone',
          '             too\\.$',
        ].join('\n'),
      ),
    );
    expect(await output('tasks', 'move', id, 'in_progress')).toBe(`${id} is in_progress: Build it`);
    expect(await output('tasks', 'done', first)).toBe(`${first} is done: Draw the landing page`);
    expect((await json('tasks', 'show', id)).data).toMatchObject({ id, status: 'in_progress', blockedBy: [] });
  });

  it('lists the tasks that match the filters, with a count', async () => {
    const add = (title: string) => output('tasks', 'add', title, '--project', 'proj_list', '--status', 'qa_review');
    const ids = [await add('One'), await add('Two'), await add('Three')];
    const filters = ['--project', 'proj_list', '--status', 'qa_review', '--priority', 'medium'];
    const lines = (await output('tasks', 'list', ...filters, '--limit', '2')).split('\n');
    expect(lines).toEqual([
      'id                             status     priority  agent  worker  title',
      `${ids[2]}  qa_review  medium                   Three`,
      `${ids[1]}  qa_review  medium                   Two`,
      '2 of 3 tasks. --all lists all of them.',
    ]);
    const all = await json('tasks', 'list', ...filters, '--all');
    expect(all.data.map(({ title }: { title: string }) => title)).toEqual(['Three', 'Two', 'One']);
    expect(all.pagination).toEqual({ limit: 3, offset: 0, total: 3 });
    const page = await json('tasks', 'list', ...filters, '--limit', '1');
    expect([page.data.length, page.pagination]).toEqual([1, { limit: 1, offset: 0, total: 3 }]);
    expect(await output('tasks', 'list', '--agent', 'no-such-agent')).toBe('0 tasks.');
  });

  it('prints no character of a title that controls the terminal', async () => {
    await output('tasks', 'add', 'Red title\u202E\nagain', '--project', 'proj_control');
    expect(await output('tasks', 'list', '--project', 'proj_control')).toContain('  Red title again\n1 task.');
  });
});

describe('agents and executions', () => {
  it('lists and shows agents', async () => {
    const list = await output('agents', 'list', '--category', 'operations', '--search', 'build');
    expect(list.split('\n')).toEqual([
      expect.stringMatching(/^name +status +category +model +display name$/),
      expect.stringMatching(/^builder +active +operations +\S+ +builder$/),
      '1 agent.',
    ]);
    expect(await output('agents', 'show', 'qa-reviewer')).toMatch(
      /^name +qa-reviewer\n[\s\S]*^system prompt +You review/m,
    );
    expect((await json('agents', 'list', '--all')).pagination).toEqual({ limit: 3, offset: 0, total: 3 });
  });

  it('changes how an agent starts by itself, and shows it', async () => {
    await createAgent(service, 'autonomous');
    const shown = async () => (await output('agents', 'show', 'autonomous')).split('\n').slice(6, 11);
    const lines = (values: readonly string[]) => [
      `auto run            ${values[0]}`,
      `max running         ${values[1]}`,
      `auto retry          ${values[2]}`,
      `auto accept         ${values[3]}`,
      `dependency results  ${values[4]}`,
    ];
    expect(await shown()).toEqual(lines(['no', '1', '0', 'no', 'yes']));
    const all = ['--auto-run', '--max-running', '3', '--auto-retry', '2', '--auto-accept', '--no-dependency-results'];
    const changed = await output('agents', 'set', 'autonomous', ...all);
    expect(changed.split('\n')).toEqual(['name                autonomous', ...lines(['yes', '3', '2', 'yes', 'no'])]);
    // What is left out stays.
    await output('agents', 'set', 'autonomous', '--auto-retry', '0');
    expect(await shown()).toEqual(lines(['yes', '3', '0', 'yes', 'no']));
    const none = ['--no-auto-run', '--no-auto-accept', '--dependency-results'];
    expect((await json('agents', 'set', 'autonomous', ...none)).data).toMatchObject({
      ...{ autoRun: false, maxRunning: 3, autoRetry: 0, autoAccept: false, dependencyResults: true },
    });
  });

  it('shows whether a task starts by itself, and the failure after which it does not', async () => {
    await createAgent(service, 'by-itself', { autoRun: true });
    const first = await createTask(service, 'First');
    const blocked = await output('tasks', 'add', 'Then', '--agent', 'by-itself', '--depends-on', first);
    const line = /^auto run +(.*)$/m;
    expect(line.exec(await output('tasks', 'show', blocked))?.[1]).toBe(
      'Starts by itself when its dependencies are done.',
    );
    const failing = await output('tasks', 'add', 'Do the impossible', '--agent', 'by-itself');
    const stopped = /^Stopped after ex_\w{26}: \S.*/;
    await expect
      .poll(async () => line.exec(await output('tasks', 'show', failing))?.[1], { timeout: 10_000 })
      .toMatch(stopped);
    expect(await output('tasks', 'show', first)).not.toMatch(line);
  });

  it('runs an agent, and prints the id of the execution, which can be watched and shown', async () => {
    const task = await createTask(service, 'Build it');
    const started = await run('agents', 'run', 'builder', 'Build the page.', '--task', task);
    const id = started.stdout.trim();
    expect(id).toMatch(/^ex_\w{26}$/);
    expect(started).toMatchObject({ code: 0, stderr: expect.stringContaining(`watch ${id} --agent builder\n`) });

    const watched = await run('executions', 'watch', id);
    const ending = `builder ${id} completed after \\d[\\d.]* m?s: self-test passed, QA review passed\\n`;
    expect([watched.code, watched.stdout]).toEqual([0, '']);
    expect(watched.stderr).toMatch(new RegExp(`^(builder ${id} running\\n)*${ending}$`));
    expect(await output('executions', 'show', id)).toMatch(
      /^quality gates +self-test passed[\s\S]*^input +Build the page\./m,
    );
    expect((await json('executions', 'show', id, '--agent', 'builder')).data).toMatchObject({ id, taskId: task });
    expect(await output('executions', 'list', '--agent', 'builder', '--limit', '1')).toMatch(
      new RegExp(`^id .*\\n${id}  completed  .*  ${task}  builder\\n`),
    );
  });

  it('runs an agent until the end, and prints only its output to standard output', async () => {
    const { code, stdout, stderr } = await run('agents', 'run', 'builder', 'Build the page.', '--wait');
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^I have worked on .* \(simulated\)\n$/)]);
    expect(stderr).toMatch(/completed after/);
    const { data } = JSON.parse((await run('agents', 'run', 'builder', 'Go.', '--wait', '--json')).stdout);
    expect(data).toMatchObject({ agentName: 'builder', status: 'completed', input: 'Go.' });
  });

  it('exits with 1 if the execution fails', async () => {
    const ended = await run('agents', 'run', 'builder', 'Do the impossible.', '--wait');
    expect(ended).toEqual(failure(expect.stringMatching(/ failed after .*: \S.*\n$/)));
    const failed = await json('executions', 'list', '--status', 'failed');
    const watched = await run('executions', 'watch', failed.data[0].id);
    expect(watched).toEqual(failure(expect.stringMatching(/ failed after /)));
  });

  it('cancels a running execution, and says that it cannot cancel one that has ended', async () => {
    const id = (await run('agents', 'run', 'builder', 'Think for an hour.')).stdout.trim();
    expect(await output('executions', 'cancel', id)).toMatch(
      new RegExp(`^${id} of builder is cancelled after \\d[\\d.]* m?s\\.$`),
    );
    expect(await output('executions', 'show', id)).toMatch(
      /^status +cancelled\nerror +cancelled\nreason +A request cancelled it, or the execution that delegated it\.$/m,
    );
    expect(await output('executions', 'list', '--limit', '1')).toMatch(new RegExp(`^${id}  cancelled  `, 'm'));
    const again = await run('executions', 'cancel', id, '--agent', 'builder');
    expect(again).toEqual(
      failure(expect.stringMatching(`The execution ${id} has ended as failed; only a running execution`)),
    );
    const other = (await run('agents', 'run', 'builder', 'Think for an hour.')).stdout.trim();
    const { data } = await json('executions', 'cancel', other);
    expect(data).toMatchObject({ id: other, status: 'failed', error: 'cancelled' });
  });

  it('runs an execution again, and prints the id of the new one, or its output', async () => {
    const first = (await run('agents', 'run', 'builder', 'Build the page.')).stdout.trim();
    const again = await run('executions', 'rerun', first);
    const id = again.stdout.trim();
    expect(id).not.toBe(first);
    expect(again).toMatchObject({ code: 0, stderr: expect.stringContaining(`watch ${id} --agent builder\n`) });
    expect((await json('executions', 'show', id)).data).toMatchObject({ id, input: 'Build the page.' });
    const { code, stdout, stderr } = await run('executions', 'rerun', first, '--agent', 'builder', '--wait');
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^I have worked on .* \(simulated\)\n$/)]);
    expect(stderr).toMatch(/completed after/);
  });

  it('says that an execution does not exist', async () => {
    const old = 'ex_01K00000000000000000000000';
    const text = `There is no execution ${old}; list executions with: executions list.\n`;
    expect(await run('executions', 'show', old)).toEqual(failure(text));
    const named = await run('executions', 'show', old, '--agent', 'builder');
    expect(named).toEqual(failure(expect.stringMatching(/no such execution.*\nRequest id: \S+\n$/)));
  });
});

describe('webhooks', () => {
  it('shows what was sent and received, without characters that control the terminal', async () => {
    const receiver = await startReceiver((response) =>
      response.writeHead(500, { 'X-Note': 'a' }).end('first\nsecond\u001b[2J\u202e third'),
    );
    const id = await output('webhooks', 'add', receiver.url, '--secret', 'a secret');
    const { deliveryId } = JSON.parse((await run('webhooks', 'test', id, '--json')).stdout).data;
    const shown = await output('webhooks', 'delivery', id, deliveryId);
    const [received] = receiver.received;
    const [delivery = '', attempt = ''] = shown.split('\n\n');
    expect(delivery.split('\n')).toEqual([
      `delivery      ${deliveryId}`,
      'event         task.created (test)',
      'state         exhausted',
      `body          ${received?.raw.toString('utf8')}`,
    ]);
    expect(attempt).toMatch(/^attempt +1\ndelivered +20\S+\nstatus +500\nerror +The receiver answered 500\.\n/);
    expect(attempt).toMatch(/\nduration +\d+ ms: connect \d+ ms, first byte \d+ ms\naddress +127\.0\.0\.1\n/);
    expect(attempt).toContain(`\n           X-Service-Delivery: ${deliveryId}\n`);
    expect(attempt).toMatch(/\nresponse +x-note: a\n/);
    expect(attempt).toMatch(/\ncontent {4}first\n {11}second \[2J {2}third$/);
    expect(shown).not.toMatch(/signature|sha256=/i);
    expect((await json('webhooks', 'delivery', id, deliveryId)).data).toMatchObject({ deliveryId, state: 'exhausted' });
    const absent = await run('webhooks', 'delivery', id, `${deliveryId.slice(0, -4)}0000`);
    expect(absent).toEqual(failure(expect.stringContaining('The organization has no such delivery')));
  });

  it('registers a webhook, tests it, and lists its attempts', async () => {
    const receiver = await startReceiver();
    const add = ['webhooks', 'add', receiver.url, '--events', 'agent.failed,agent.failed'];
    const { code, stdout, stderr } = await crewboard(add, { ...connection, WEBHOOK_SECRET: 'a-long-secret' });
    expect([code, stderr]).toEqual([0, '']);
    const id = stdout.trim();
    expect(await output('webhooks', 'test', id)).toMatch(/^event +task\.created\ndelivery +dlv_\w+\nstatus +204\n/);
    expect(receiver.received[0]?.headers['x-service-signature']).toBeDefined();
    expect(await output('webhooks', 'list')).toMatch(new RegExp(`${id}  yes .*  agent\\.failed  ${receiver.url}\n`));
    const deliveries = await output('webhooks', 'deliveries', id);
    expect(deliveries).toMatch(/^delivered .*\n\S+ {2}task\.created \(test\) {2}1 +204 .*\n1 attempt\.$/);

    await receiver.close();
    const failed = await run('webhooks', 'test', id, '--event', 'agent.failed', '--json');
    expect([failed.code, JSON.parse(failed.stdout).data.httpStatus]).toEqual([1, 0]);
    const page = await json('webhooks', 'deliveries', id, '--all');
    expect(page.data.map(({ event }: { event: string }) => event)).toEqual(['agent.failed', 'task.created']);

    const [{ deliveredAt }] = page.data;
    const count = async (...options: string[]) => (await json('webhooks', 'deliveries', id, ...options)).data.length;
    expect([await count('--status', 'failed'), await count('--event', 'task.created', '--all')]).toEqual([1, 1]);
    expect([await count('--since', deliveredAt), await count('--until', deliveredAt, '--all')]).toEqual([1, 2]);
    const unknown = await run('webhooks', 'deliveries', id, '--since', 'yesterday');
    expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringMatching(/must be a time in ISO 8601/)]);
    const reversed = await run('webhooks', 'deliveries', id, '--since', deliveredAt, '--until', '2026-01-01T00:00:00Z');
    expect([reversed.code, reversed.stderr]).toEqual([1, expect.stringMatching(/since must not be after until/)]);
  });

  it('lists the events of a webhook with the states of their deliveries, in pages or all of them', async () => {
    const { url } = await startReceiver((response) => response.writeHead(401).end());
    const id = (await run('webhooks', 'add', url, '--events', 'task.created')).stdout.trim();
    expect(await output('webhooks', 'events', id)).toBe('0 events.');
    const task = await createTask(service, 'One');
    await createTask(service, 'Another');
    const events = (...options: string[]) => output('webhooks', 'events', id, ...options);
    await vi.waitFor(async () => expect(await events('--state', 'retrying')).toMatch(/\n2 events\.$/), 10_000);
    expect(await events()).toMatch(
      /^occurred .*\n\S+Z {2}task\.created {2}retrying {2}1 +401 +\S+Z {2}dlv_\w+ {2}.*401.*not signed\.\n/,
    );
    expect(await events('--limit', '1')).toMatch(/\n1 event\. There are more: --all lists all of them\.$/);
    const { data, pagination } = await json('webhooks', 'events', id, '--all');
    expect([data.length, pagination]).toEqual([2, { limit: 2, next: null }]);
    expect((await json('webhooks', 'events', id, '--task', task)).data).toEqual([data[1]]);
    expect(await events('--state', 'skipped')).toBe('0 events.');
  });

  it('changes the URL, the events and the description of a webhook, and only those that are named', async () => {
    const added = await run('webhooks', 'add', 'http://127.0.0.1:8099/hook', '--events', 'task.created');
    const id = added.stdout.trim();
    const lines = await output('webhooks', 'edit', id, '--events', 'agent.failed', '--description', 'Staging');
    const fields = [/^id +wh_\w+$/, /^url +http:\/\/127\.0\.0\.1:8099\/hook$/, /^events +agent\.failed$/];
    for (const line of [...fields, /^description +Staging$/])
      expect(lines.split('\n')).toContainEqual(expect.stringMatching(line));
    const { data } = await json('webhooks', 'edit', id, 'http://127.0.0.1:8099/new', '--description', '');
    expect(data).toMatchObject({ id, url: 'http://127.0.0.1:8099/new', events: ['agent.failed'] });
    expect(data).not.toHaveProperty('description');
    const unnamed = await run('webhooks', 'edit', id);
    expect([unnamed.code, unnamed.stderr]).toEqual([2, expect.stringMatching(/Name a change/)]);
  });

  it('sets the filter of a webhook, replaces it as a whole and removes it', async () => {
    const filterOf = async (id: string) =>
      (await json('webhooks', 'list')).data.find((webhook: { id: string }) => webhook.id === id).taskFilter;
    const added = await run('webhooks', 'add', 'http://127.0.0.1:8099/filtered', '--project', 'proj_a');
    const id = added.stdout.trim();
    expect(await filterOf(id)).toEqual({ projectId: 'proj_a' });
    const lines = await output('webhooks', 'edit', id, '--agent', 'writer', '--project', 'proj_b');
    for (const line of [/^project +proj_b$/, /^agent +writer$/])
      expect(lines.split('\n')).toContainEqual(expect.stringMatching(line));
    await output('webhooks', 'edit', id, '--agent', 'reader');
    expect(await filterOf(id)).toEqual({ assignedAgent: 'reader' });
    await output('webhooks', 'edit', id, '--agent', '');
    expect(await filterOf(id)).toBeUndefined();
  });

  it('pauses and resumes a webhook, and lists whether it is active', async () => {
    const id = (await run('webhooks', 'add', 'http://127.0.0.1:8099/paused')).stdout.trim();
    expect(await output('webhooks', 'pause', id)).toMatch(/^active +no$/m);
    expect(await output('webhooks', 'list')).toMatch(new RegExp(`${id} +no `));
    expect((await json('webhooks', 'resume', id)).data).toMatchObject({ id, active: true });
  });

  it('sets the maximum of attempts in a second of a webhook, and removes it', async () => {
    const added = await run('webhooks', 'add', 'http://127.0.0.1:8099/paced', '--max-per-second', '5');
    const id = added.stdout.trim();
    const edited = await json('webhooks', 'edit', id, '--max-per-second', '2');
    expect(edited.data).toMatchObject({ id, maxPerSecond: 2 });
    expect(await output('webhooks', 'edit', id, '--description', 'Paced')).toMatch(/^maximum a second +2$/m);
    expect((await json('webhooks', 'edit', id, '--max-per-second', '')).data).not.toHaveProperty('maxPerSecond');
    expect((await run('webhooks', 'edit', id, '--max-per-second', '1001')).code).toBe(2);
  });

  it('lets a webhook recover missed events by itself, or not', async () => {
    const added = await run('webhooks', 'add', 'http://127.0.0.1:8099/recovering', '--auto-recover');
    const id = added.stdout.trim();
    expect(await output('webhooks', 'edit', id, '--description', 'Recovering')).toMatch(/^recovers by itself +yes$/m);
    expect(await output('webhooks', 'edit', id, '--auto-recover', 'no')).toMatch(/^recovers by itself +no$/m);
    expect((await json('webhooks', 'edit', id, '--auto-recover', 'yes')).data).toMatchObject({ autoRecover: true });
    const unset = (await run('webhooks', 'add', 'http://127.0.0.1:8099/by-hand')).stdout.trim();
    expect(await output('webhooks', 'edit', unset, '--description', 'By hand')).toMatch(/^recovers by itself +no$/m);
  });

  it('counts the events that a webhook has missed, and sends them again', async () => {
    const since = new Date(Date.now() - 3_600_000).toISOString();
    await createTask(service, 'Before the registration');
    const add = ['webhooks', 'add', 'http://127.0.0.1:8099/hook', '--events', 'task.created'];
    const id = (await run(...add)).stdout.trim();
    const recover = ['webhooks', 'recover', id, '--since', since];
    const before = [...recover, '--include', 'never_sent'];
    await expect.poll(() => output(...before, '--dry-run')).toMatch(/^[1-9]\d* events? would be sent\. Of the range: /);
    expect(await json(...before, '--dry-run')).toMatchObject({
      data: { matched: expect.any(Number), leftOut: { inProgress: 0 } },
    });
    expect(await output(...recover, '--events', 'agent.failed')).toMatch(/^0 events are sent\./);

    const { code, stdout, stderr } = await run(...before, '--rate', '100');
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^rc_\w+ completed: /m)]);
    expect(stdout).toMatch(
      /^recovery +rc_\w+\nstate +completed\nmatched +([1-9]\d*)\nsent +\1\ndelivered +0\nfailed +\1\n$/,
    );
    const [, recoveryId = ''] = /(rc_\w+)/.exec(stdout) ?? [];
    expect(await output('webhooks', 'recoveries', id)).toMatch(new RegExp(`${recoveryId} +completed `));
    const cancelled = await run('webhooks', 'cancel-recovery', id, recoveryId);
    expect([cancelled.code, cancelled.stderr]).toEqual([
      1,
      expect.stringMatching(/is completed; only a running recovery/),
    ]);
    const unknown = await run(...recover, '--include', 'lost');
    expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringMatching(/Unknown kind lost; use exhausted/)]);
    const unbounded = await run('webhooks', 'recover', id);
    expect([unbounded.code, unbounded.stderr]).toEqual([2, expect.stringMatching(/--since/)]);
  });

  it('subscribes to all events by default, and warns that deliveries are not signed', async () => {
    const { code, stdout, stderr } = await run('webhooks', 'add', 'http://127.0.0.1:8099/hook', '--json');
    expect([code, stderr]).toEqual([0, expect.stringMatching(/not signed/)]);
    expect(JSON.parse(stdout).data.events).toEqual(eventNames);
    expect(await output('webhooks', 'list')).toMatch(/ {2}yes +never +all +http:\/\/127\.0\.0\.1:8099\/hook\n/);
  });
});

describe('errors', () => {
  it('prints the message of the API, the details that it does not have, and the request id', async () => {
    const missing = ['--depends-on', 'tk_01K00000000000000000000000', 'tk_01K00000000000000000000001'];
    const { code, stdout, stderr } = await run('tasks', 'add', 'Build it', ...missing);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/^.+\n( {2}dependsOn\.\d: .+\n)+Request id: [\w-]+\n$/);
    const one = await run('tasks', 'add', '');
    expect(one.stderr).toMatch(/^title must have 1 to 500 characters\.\nRequest id: [\w-]+\n$/);
  });
});
