import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Organization } from './organization.ts';

/** Well-formed ids that no resource has. */
const unknown = { task: 'tk_01K0000000000000000000000Z', webhook: 'wh_01K0000000000000000000000Z', agent: 'unknown' };

/** Returns the resources of the caller that are never deleted, each with the unknown id that is sent instead. */
export function keptOf({ tasks, agents, workers, webhooks }: Organization): Record<string, string> {
  const instead = (ids: string[], other: string) => ids.map((id) => [id, other] as const);
  return Object.fromEntries([
    ...instead(tasks, unknown.task),
    ...instead([...agents, ...workers], unknown.agent),
    ...instead(webhooks, unknown.webhook),
  ]);
}

/**
 * Writes the parameters that schemathesis chooses from, a file for each kind, as `schemathesis.toml` names them: parameters of
 * the caller, of the other organization, and unknown ones.
 */
export function writeDictionaries(folder: string, own: Organization, other: Organization, receiverHost: string): void {
  const both = (kind: 'tasks' | 'agents' | 'workers' | 'executions' | 'webhooks') => [...own[kind], ...other[kind]];
  const dictionaries = {
    tasks: [...both('tasks'), unknown.task],
    'deletable-tasks': [...own.spareTasks, ...other.tasks],
    agents: [...both('agents'), ...both('workers'), 'qa-reviewer', unknown.agent],
    'deletable-agents': [...own.spareAgents, ...other.agents, ...other.workers, 'prompt-improver'],
    workers: [...both('workers'), ...own.workers],
    executions: [...both('executions'), 'ex_01K0000000000000000000000Z'],
    webhooks: [...both('webhooks'), unknown.webhook],
    'deletable-webhooks': [...own.spareWebhooks, ...other.webhooks],
    // Enough that most are new and some are repeated.
    keys: Array.from({ length: 1000 }, (_, nth) => `key-${nth}`),
    // The sender stays on the loopback: each is the receiver's, of the domain that RFC 2606 reserves, or refused.
    urls: [
      `http://${receiverHost}/own`,
      'https://receiver.invalid/hooks',
      'https://receiver.invalid:25/hooks',
      'https://user:secret@receiver.invalid/hooks',
      'https://10.0.0.1/hooks',
      'https://[::1]/hooks',
    ],
  };
  mkdirSync(folder);
  for (const [name, values] of Object.entries(dictionaries))
    writeFileSync(join(folder, `${name}.dict`), `${values.map((value) => JSON.stringify(value)).join('\n')}\n`);
}
