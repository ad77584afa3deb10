import { Readable } from 'node:stream';
import { expect, it, vi } from 'vitest';
import { startDeployment } from '../../../../journeys/deployment.ts';
import { createAgent, endOf, execute } from '../../../../journeys/requests.ts';
import { commandsOf, onTerminal } from '../crewboard.ts';

const service = await startDeployment();
const { run, output, json, messageOf } = commandsOf(service);
await createAgent(service, 'builder');

const time = String.raw`\d{4}-\d\d-\d\dT[\d:.]+Z`;
const noHash = `sha256:${'0'.repeat(64)}`;

/** Runs a command with a text on its standard input. */
async function withInput<Ended>(text: string, act: () => Promise<Ended>): Promise<Ended> {
  const stdin = vi.spyOn(process, 'stdin', 'get').mockReturnValue(Readable.from([text]) as never);
  try {
    return await act();
  } finally {
    stdin.mockRestore();
  }
}

it('creates an agent with all its fields, changes them and clears them', async () => {
  const options = [
    ...['--category', 'development', '--display-name', 'Page maker', '--description', 'Builds pages.'],
    ...['--soul', 'Careful.', '--capabilities', 'html, tasks.read', '--status', 'draft', '--max-steps', '20'],
    ...['--max-tokens', '5000', '--auto-run', '--max-running', '2', '--system-prompt', '-'],
  ];
  const name = await withInput('You build pages.\n', () => output('agents', 'create', 'page-maker', ...options));
  expect(name).toBe('page-maker');
  const { data: agent } = await json('agents', 'show', 'page-maker');
  expect(agent).toMatchObject({
    ...{ displayName: 'Page maker', description: 'Builds pages.', category: 'development', status: 'draft' },
    ...{ systemPrompt: 'You build pages.', soul: 'Careful.', capabilities: ['html', 'tasks.read'] },
    ...{ maxSteps: 20, maxTokens: 5000, autoRun: true, maxRunning: 2, autoAccept: false },
  });
  expect(await output('agents', 'show', 'page-maker')).toMatch(/^max tokens +5,000$/m);

  const changes = ['--status', 'active', '--category', 'qa', '--model', 'a.model', '--system-prompt', 'You test.'];
  expect((await output('agents', 'edit', 'page-maker', ...changes, '--soul', '')).split('\n')).toEqual([
    'name           page-maker',
    ...['category       qa', 'status         active', 'model          a.model'],
    ...['system prompt  You test.', 'soul           none'],
  ]);
  const cleared = ['--description', '', '--max-steps', '', '--max-tokens', '', '--model', '', '--capabilities', ''];
  const { data } = await json('agents', 'edit', 'page-maker', ...cleared);
  expect(data).toMatchObject({ model: agent.model, capabilities: [], systemPrompt: 'You test.', soul: '' });
  for (const field of ['description', 'maxSteps', 'maxTokens']) expect(data).not.toHaveProperty(field);
});

it('gives a new agent its name for people, and prints it as JSON', async () => {
  const { data } = await json('agents', 'create', 'writer', '--category', 'business');
  expect(data).toMatchObject({ name: 'writer', displayName: 'writer' });
  expect(await messageOf('agents', 'create', 'writer', '--category', 'business')).toMatch(/writer/);
  expect(await messageOf('agents', 'edit', 'nobody', '--status', 'draft')).toMatch(/no such agent/);
});

it('changes an agent by the former name of the command, too', async () => {
  expect(await output('agents', 'set', 'builder', '--max-running', '4')).toMatch(/^max running +4$/m);
});

it('deletes an agent after a question that names it, and no system agent', async () => {
  await createAgent(service, 'short-lived');
  const { code, stderr } = await onTerminal('no\n', () => run('agents', 'delete', 'short-lived'));
  expect([code, stderr]).toEqual([
    1,
    expect.stringContaining(
      'Delete the agent short-lived "short-lived" and all its executions? This cannot be undone.',
    ),
  ]);
  expect(await output('agents', 'delete', 'short-lived', '--yes')).toBe('Deleted the agent short-lived.');
  expect(await messageOf('agents', 'show', 'short-lived')).toMatch(/no such agent/);
  await createAgent(service, 'another');
  expect(await json('agents', 'delete', 'another', '--yes')).toEqual({ data: { name: 'another' } });
  expect(await messageOf('agents', 'delete', 'qa-reviewer', '--yes')).toMatch(/system agent/);
});

it('runs an agent with a context, and delegates to another one', async () => {
  await createAgent(service, 'planner');
  const started = await run('agents', 'run', 'builder', 'Build.', '--context', '{"audience":"people"}', '--json');
  expect(JSON.parse(started.stdout).data).toMatchObject({ agentName: 'builder', status: 'running' });
  const task = await output('tasks', 'add', 'Build it');
  const id = await output('agents', 'delegate', 'planner', 'builder', 'Build the page.', '--task', task);
  expect(id).toMatch(/^dl_\w{26}$/);
  const listed = async () => (await json('executions', 'list', '--agent', 'builder')).data;
  const { id: execution } = (await listed()).find(({ taskId }: { taskId?: string }) => taskId === task);
  expect(await output('executions', 'show', execution)).toMatch(new RegExp(`^delegation +${id}$`, 'm'));
  const { data } = await json('agents', 'delegate', 'planner', 'builder', 'Again.', '--context', '{}');
  expect(data).toMatchObject({ fromAgent: 'planner', toAgent: 'builder', status: 'accepted' });
  expect(await messageOf('agents', 'delegate', 'planner', 'planner', 'Alone.')).toMatch(/itself/);
});

it('shows the numbers of an agent, of all agents, and of each day', async () => {
  await createAgent(service, 'measured');
  await endOf(service, 'measured', await execute(service, 'measured', 'Build.'));
  const shown = await output('agents', 'metrics', 'measured', '--period', '7d', '--daily');
  expect(shown).toMatch(/^agent +measured\nperiod +7d\nexecutions +1\ncompleted +1\nfailed +0\nrunning +0\n/);
  expect(shown).toMatch(/^success rate +100 %$/m);
  expect(shown).toMatch(
    /\n\ndate +executions +failed +tokens +median +95th percentile\n(\d{4}-\d\d-\d\d .*\n){7}7 days\.$/,
  );
  const { data } = await json('agents', 'metrics', 'measured', '--prompt', noHash);
  expect(data).toMatchObject({ agentName: 'measured', period: '30d', executions: { total: 0 } });
  expect(await output('agents', 'metrics')).toMatch(/^agent +all\n[\s\S]*^running limit +\d+$/m);
  expect((await json('agents', 'metrics', '--daily')).data.series).toHaveLength(30);
  expect(await messageOf('agents', 'metrics', 'nobody')).toMatch(/no such agent/);
});

it('lists the steps of an execution', async () => {
  const execution = await execute(service, 'builder', 'Build.');
  await endOf(service, 'builder', execution);
  const steps = await output('executions', 'steps', execution, '--agent', 'builder');
  expect(steps).toMatch(
    /^step +kind +name +duration +tokens +result\n1 +model +\S+ .*\n2 +gate +selfTest .*\n3 +gate +qaReview /,
  );
  expect(steps).toMatch(/\n3 steps\.$/);
  const { data, pagination } = await json('executions', 'steps', execution, '--limit', '1');
  expect([data.length, data[0].number, pagination.total]).toEqual([1, 1, 3]);
  const absent = 'ex_01K00000000000000000000000';
  expect(await messageOf('executions', 'steps', absent, '--agent', 'builder')).toMatch(/no such execution/);
});

it('improves an agent, and lists the passes', async () => {
  await createAgent(service, 'improved');
  expect((await output('agents', 'improve', 'improved')).split('\n')).toEqual([
    'improved         no',
    'changes          There is nothing to learn from: no execution has finished yet.',
    expect.stringMatching(/^previous prompt {2}sha256:\w{64}$/),
    expect.stringMatching(/^new prompt {7}sha256:\w{64}$/),
  ]);
  expect(await output('agents', 'improvements', 'improved')).toBe('0 passes.');
  await endOf(service, 'improved', await execute(service, 'improved', 'Build.'));
  const { data } = await json('agents', 'improve', 'improved', '--lookback', '5', '--focus', 'short answers');
  expect(data.improved).toBe(false);
  const passes = await output('agents', 'improvements', 'improved');
  expect(passes).toMatch(new RegExp(`^started +decision +votes +tokens +changes\n${time}  \\w+ .*\n1 pass\\.$`));
  expect((await json('agents', 'improvements', 'improved')).data).toHaveLength(1);
  expect(await messageOf('agents', 'improve', 'nobody')).toMatch(/no such agent/);
  expect(await messageOf('agents', 'improvements', 'nobody')).toMatch(/no such agent/);
});

it('lists, shows and restores the prompts of an agent', async () => {
  await output('agents', 'create', 'prompted', '--category', 'qa', '--system-prompt', 'Once.');
  await output('agents', 'edit', 'prompted', '--system-prompt', 'Twice.\u202E');
  const { data } = await json('agents', 'prompts', 'prompted');
  const [second, first] = data.map(({ hash }: { hash: string }) => hash);
  expect((await output('agents', 'prompts', 'prompted')).split('\n')).toEqual([
    expect.stringMatching(/^hash +created +source +changes$/),
    expect.stringMatching(new RegExp(`^${second}  ${time}  update$`)),
    expect.stringMatching(new RegExp(`^${first}  ${time}  create$`)),
    '2 prompts.',
  ]);
  expect(await output('agents', 'prompt', 'prompted', second)).toMatch(/^system prompt +Twice\.$/m);
  expect(await output('agents', 'restore-prompt', 'prompted', first)).toBe(`prompted has the prompt ${first}.`);
  expect((await json('agents', 'prompt', 'prompted', first)).data).toMatchObject({ systemPrompt: 'Once.' });
  expect((await json('agents', 'restore-prompt', 'prompted', first)).data).toMatchObject({ systemPrompt: 'Once.' });
  expect(await messageOf('agents', 'prompt', 'prompted', noHash)).toMatch(/no such prompt/);
  expect(await messageOf('agents', 'restore-prompt', 'prompted', noHash)).toMatch(/no such prompt/);
  expect(await messageOf('agents', 'prompts', 'nobody')).toMatch(/no such agent/);
});

it('lists what has changed of an agent', async () => {
  await createAgent(service, 'changed');
  await output('agents', 'edit', 'changed', '--status', 'draft');
  const listed = async () => (await output('agents', 'history', 'changed')).split('\n');
  await expect.poll(async () => (await listed()).at(-1), { timeout: 10_000 }).toBe('2 changes.');
  expect((await listed())[1]).toMatch(new RegExp(`^${time}  changed .* status: active → draft$`));
  const { data, pagination } = await json('agents', 'history', 'changed', '--limit', '1');
  expect([data[0].kind, pagination.total]).toEqual(['changed', 2]);
  expect(await messageOf('agents', 'history', 'nobody')).toMatch(/no such agent/);
});

it('lists the skills of the deployment, and assigns them to an agent', async () => {
  const catalogue = await output('skills', 'list');
  const [id = ''] = /^sk_\S+/m.exec(catalogue) ?? [];
  expect(catalogue).toMatch(/^id +description\n[\s\S]*\n\d+ skills?\.$/);
  expect(await output('skills', 'list', '--agent', 'builder')).toBe('0 skills.');
  expect(await output('skills', 'assign', 'builder', id)).toBe(`builder has the skill ${id}.`);
  expect(await output('skills', 'list', '--agent', 'builder')).toMatch(new RegExp(`\n${id}  ${time}  .*\n1 skill\\.$`));
  expect((await json('skills', 'list', '--agent', 'builder')).data[0]).toMatchObject({ id });
  expect((await json('skills', 'list')).data.length).toBeGreaterThan(0);
  expect(await output('skills', 'unassign', 'builder', id)).toBe(`builder does not have the skill ${id}.`);
  expect(await json('skills', 'assign', 'builder', id)).toEqual({ data: { name: 'builder', skillId: id } });
  expect(await json('skills', 'unassign', 'builder', id)).toEqual({ data: { name: 'builder', skillId: id } });
  expect(await messageOf('skills', 'assign', 'builder', 'sk_none')).toMatch(/no such skill/);
  expect(await messageOf('skills', 'unassign', 'nobody', id)).toMatch(/no such agent/);
  expect(await messageOf('skills', 'list', '--agent', 'nobody')).toMatch(/no such agent/);
});

it.each([
  [['agents', 'create', 'new'], /error: Name the category: --category with one of business, /],
  [['agents', 'create', 'New', '--category', 'qa'], /It must be kebab-case/],
  [['agents', 'edit', 'builder'], /error: Name a change, such as --model/],
  [['agents', 'edit', 'builder', '--system-prompt', '-', '--soul', '-'], /Standard input has one text/],
  [['agents', 'edit', 'builder', '--max-steps', '0'], /whole number from 1 to 200/],
  [['agents', 'delete', 'builder'], /add --yes to delete without a question/],
  [['agents', 'run', 'builder', 'Go', '--context', '[1]'], /It must be a JSON object/],
  [['agents', 'metrics', '--prompt', noHash], /--prompt needs the name of its agent/],
  [['agents', 'improve', 'builder', '--lookback', '101'], /whole number from 1 to 100/],
  [['skills', 'assign', 'builder', 'review'], /It must be the id of a skill/],
])('exits with 2 for the wrong usage %j', async (args, message) => {
  expect(await run(...args)).toEqual({ code: 2, stdout: '', stderr: expect.stringMatching(message) });
});
