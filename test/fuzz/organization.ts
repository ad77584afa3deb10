import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { eventNames } from '../../lib/contract/webhooks/events.ts';
import { type Api, dataOf, paginationOf, successOf } from '../api.ts';
import { createApiOverHttp } from '../api-over-http.ts';

/** An organization of the fuzzed service, and the ids and names of its first resources. */
export type Organization = {
  name: string;
  token: string;
  api: Api;
  tasks: string[];
  /** Resources on which no other resource depends, so they may be deleted. */
  spareTasks: string[];
  spareAgents: string[];
  spareWebhooks: string[];
  /** Agents that are read and changed, and agents that stay as they are and run executions. */
  agents: string[];
  workers: string[];
  executions: string[];
  delegations: string[];
  webhooks: string[];
};

/** The service of the organizations, and the receiver of their webhooks. */
type Place = { url: string; dataFolder: string; receiverHost: string };

/** The longest wait until all executions and deliveries have ended, in milliseconds. */
const restTimeoutMs = 120_000;

const root = join(import.meta.dirname, '..', '..');

/** Runs an operator's command on the fuzzed service, and returns its output. */
export async function runCommand(dataFolder: string, command: string, args: string[]): Promise<string> {
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, CREWBOARD_DATA: dataFolder };
  const program = join(root, 'infra', 'cli', 'main.ts');
  const { stdout } = await promisify(execFile)(process.execPath, [program, command, ...args], { cwd: root, env });
  return stdout.trim();
}

/**
 * Creates an organization with resources of every kind: agents with skills, tasks that depend on others, executions, a
 * delegation, webhooks with deliveries. Waits until all executions and deliveries have ended.
 *
 * @param name also in the names of its agents, which the other organization sends
 * @param words a text that only the texts of this organization contain
 */
export async function createOrganization(place: Place, name: string, words: string): Promise<Organization> {
  const token = await runCommand(place.dataFolder, 'token', ['create', '--org', name]);
  const api = createApiOverHttp(place.url, token);

  const url = `http://${place.receiverHost}/${words}`;
  const register = async (events: readonly string[]) =>
    successOf(await api.registerWebhook({ body: { url, events, secret: words } })).id;
  const webhooks = await inTurn([eventNames, eventNames.slice(0, 1)], register);
  const spareWebhooks = await inTurn(
    eventNames.map((event) => [event]),
    register,
  );

  const create = (role: string) => createAgent(api, `${name}-${role}`, words);
  const agents = await inTurn(['planner', 'writer', 'tester'], create);
  const workers = await inTurn(['builder', 'reviewer'], create);
  const spareAgents = await inTurn(['spare-1', 'spare-2', 'spare-3', 'spare-4', 'spare-5'], create);

  const createTask = async (title: string, more: object = {}) =>
    successOf(await api.createTask({ body: { title: `${title} ${words}`, description: words, ...more } })).id;
  const groundwork = await createTask('Groundwork', { status: 'done', projectId: `proj_${name}` });
  const design = await createTask('Design', { dependsOn: [groundwork], assignedAgent: workers[0] });
  const build = await createTask('Build', { dependsOn: [groundwork, design], priority: 'high' });
  const ship = await createTask('Ship', { dependsOn: [build] });
  const spareTasks = await inTurn(['Spare 1', 'Spare 2', 'Spare 3', 'Spare 4', 'Spare 5'], (title) =>
    createTask(title),
  );

  const [builder = '', reviewer = ''] = workers;
  const params = { name: builder };
  const inputs = [{ input: `Design it: ${words}`, taskId: design, context: { words } }, { input: `Think: ${words}` }];
  for (const body of inputs) successOf(await api.executeAgent({ params, body }));
  const delegated = await api.delegateTask({ params, body: { toAgent: reviewer, instruction: words } });
  await untilAtRest(api);
  const executions = successOf<{ id: string }[]>(await api.listExecutions()).map(({ id }) => id);
  for (const id of webhooks) successOf(await api.testWebhook({ params: { id }, body: { event: 'task.created' } }));
  return {
    ...{ name, token, api, agents, workers, spareAgents, spareTasks, webhooks, spareWebhooks, executions },
    tasks: [groundwork, design, build, ship],
    delegations: [successOf<{ delegationId: string }>(delegated).delegationId],
  };
}

async function inTurn<Given, Created>(all: Given[], create: (one: Given) => Promise<Created>): Promise<Created[]> {
  const created: Created[] = [];
  for (const one of all) created.push(await create(one));
  return created;
}

async function createAgent(api: Api, name: string, words: string): Promise<string> {
  const texts = { displayName: `${name} ${words}`, description: words, systemPrompt: words, soul: words };
  successOf(await api.createAgent({ body: { name, category: 'development', capabilities: [words], ...texts } }));
  for (const skillId of ['sk_code-review', 'sk_release-notes'])
    successOf(await api.assignSkill({ params: { name }, body: { skillId } }));
  return name;
}

/** Waits until no execution runs any more and the history of every webhook has stopped growing. */
export async function untilAtRest(api: Api): Promise<void> {
  const deadline = Date.now() + restTimeoutMs;
  let before = '';
  for (;;) {
    const running = paginationOf(await api.listExecutions({ query: 'status=running&limit=1' })).total;
    const webhooks = dataOf<{ id: string }[]>(await api.listWebhooks());
    const histories = await inTurn(
      webhooks,
      async ({ id }) => paginationOf(await api.listDeliveries({ params: { id } })).total,
    );
    const now = `${running} ${histories}`;
    if (running === 0 && now === before) return;
    if (Date.now() > deadline) throw new Error(`Not at rest after ${restTimeoutMs} ms: ${now}.`);
    before = now;
    await pause(1000);
  }
}
