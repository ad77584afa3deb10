import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { eventNames } from '../../lib/contract/events.ts';
import { type Api, apiOf, type Thing } from './api.ts';

/** An organization of the fuzzed service, and the ids and names of what it was given to begin with. */
export type Organization = {
  name: string;
  token: string;
  api: Api;
  tasks: string[];
  /** What may be deleted without taking the ground from under the rest. */
  spareTasks: string[];
  spareAgents: string[];
  spareWebhooks: string[];
  /** What is read and changed, and what is left as it is and works. */
  agents: string[];
  workers: string[];
  executions: string[];
  delegations: string[];
  webhooks: string[];
};

/** Where the organizations are made, and what hears of them. */
type Place = { url: string; dataFolder: string; receiverHost: string };

const root = join(import.meta.dirname, '..', '..');

/** Runs one of the commands that operators run, on the fuzzed service. */
export async function runCommand(dataFolder: string, command: string, args: string[]): Promise<string> {
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, CREWBOARD_DATA: dataFolder };
  const program = join(root, 'infra', 'cli', 'main.ts');
  const { stdout } = await promisify(execFile)(process.execPath, [program, command, ...args], { cwd: root, env });
  return stdout.trim();
}

/**
 * Makes an organization and gives it some of everything: agents with skills, tasks that depend on others, executions, a
 * delegation, webhooks with deliveries. Returns once all of it is at rest.
 *
 * @param name also in the names of its agents, which the other one tries
 * @param words in every text of it, and nowhere else
 */
export async function makeOrganization(place: Place, name: string, words: string): Promise<Organization> {
  const token = await runCommand(place.dataFolder, 'token', ['create', '--org', name]);
  const api = apiOf(place.url, token);
  const post = async (path: string, body: unknown) => (await api('POST', path, body)).data as Thing;

  const hook = `http://${place.receiverHost}/${words}`;
  const register = async (events: readonly string[]) =>
    (await post('/api/webhooks/register', { url: hook, events, secret: words })).id;
  const webhooks = await inTurn([eventNames, eventNames.slice(0, 1)], register);
  const spareWebhooks = await inTurn(
    eventNames.map((event) => [event]),
    register,
  );

  const employ = (role: string) => employAgent(api, `${name}-${role}`, words);
  const agents = await inTurn(['planner', 'writer', 'tester'], employ);
  const workers = await inTurn(['builder', 'reviewer'], employ);
  const spareAgents = await inTurn(['spare-1', 'spare-2', 'spare-3', 'spare-4', 'spare-5'], employ);

  const addTask = async (title: string, more: object = {}) =>
    (await post('/api/kanban-tasks', { title: `${title} ${words}`, description: words, ...more })).id;
  const groundwork = await addTask('Groundwork', { status: 'done', projectId: `proj_${name}` });
  const design = await addTask('Design', { dependsOn: [groundwork], assignedAgent: workers[0] });
  const build = await addTask('Build', { dependsOn: [groundwork, design], priority: 'high' });
  const ship = await addTask('Ship', { dependsOn: [build] });
  const spareTasks = await inTurn(['Spare 1', 'Spare 2', 'Spare 3', 'Spare 4', 'Spare 5'], (title) => addTask(title));

  const [builder = '', reviewer = ''] = workers;
  const start = async (body: object) =>
    (await api('POST', `/api/agents/${builder}/execute`, body)).data as { executionId: string };
  const started = await start({ input: `Design it: ${words}`, taskId: design, context: { words } });
  await start({ input: `Think about it: ${words}` });
  const { data } = await api('POST', `/api/agents/${builder}/delegate`, { toAgent: reviewer, instruction: words });
  await untilAtRest(api);
  const { data: runs } = await api('GET', '/api/agents/executions');
  for (const id of webhooks) await post(`/api/webhooks/${id}/test`, { event: 'task.created' });
  return {
    ...{ name, token, api, agents, workers, spareAgents, spareTasks, webhooks, spareWebhooks },
    tasks: [groundwork, design, build, ship],
    executions: [started.executionId, ...(runs as Thing[]).map(({ id }) => id)],
    delegations: [(data as { delegationId: string }).delegationId],
  };
}

async function inTurn<Given, Made>(all: Given[], make: (one: Given) => Promise<Made>): Promise<Made[]> {
  const made: Made[] = [];
  for (const one of all) made.push(await make(one));
  return made;
}

async function employAgent(api: Api, name: string, words: string): Promise<string> {
  const texts = { displayName: `${name} ${words}`, description: words, systemPrompt: words, soul: words };
  await api('POST', '/api/agents', { name, category: 'development', capabilities: [words], ...texts });
  for (const skillId of ['sk_code-review', 'sk_release-notes'])
    await api('POST', `/api/agents/${name}/skills`, { skillId });
  return name;
}

/** Waits until no execution runs any more and the history of every webhook has stopped growing. */
export async function untilAtRest(api: Api): Promise<void> {
  const deadline = Date.now() + 120_000;
  let before = '';
  for (;;) {
    const running = (await api('GET', '/api/agents/executions?status=running&limit=1')).total;
    const webhooks = (await api('GET', '/api/webhooks')).data as Thing[];
    const histories = await inTurn(
      webhooks,
      async ({ id }) => (await api('GET', `/api/webhooks/${id}/deliveries`)).total,
    );
    const now = `${running} ${histories}`;
    if (running === 0 && now === before) return;
    if (Date.now() > deadline) throw new Error(`Not at rest after two minutes: ${now}.`);
    before = now;
    await pause(1000);
  }
}
