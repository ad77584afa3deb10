import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Organization } from './organization.ts';

/** Well-formed, and nobody's. */
const nobodys = { task: 'tk_01K0000000000000000000000Z', webhook: 'wh_01K0000000000000000000000Z', agent: 'nobody' };

/** What of the caller's is never deleted, and what is named instead. */
export function keptOf({ tasks, agents, workers, webhooks }: Organization): Record<string, string> {
  const instead = (ids: string[], other: string) => ids.map((id) => [id, other] as const);
  return Object.fromEntries([
    ...instead(tasks, nobodys.task),
    ...instead([...agents, ...workers], nobodys.agent),
    ...instead(webhooks, nobodys.webhook),
  ]);
}

/**
 * Writes what schemathesis draws parameters from, a file a kind as `schemathesis.toml` names them: what the caller has,
 * what the other organization has, and what nobody has.
 */
export function writeDictionaries(folder: string, own: Organization, other: Organization, receiverHost: string): void {
  const both = (kind: 'tasks' | 'agents' | 'workers' | 'executions' | 'webhooks') => [...own[kind], ...other[kind]];
  const dictionaries = {
    tasks: [...both('tasks'), nobodys.task],
    'deletable-tasks': [...own.spareTasks, ...other.tasks],
    agents: [...both('agents'), ...both('workers'), 'qa-reviewer', nobodys.agent],
    'deletable-agents': [...own.spareAgents, ...other.agents, ...other.workers, 'prompt-improver'],
    workers: [...both('workers'), ...own.workers],
    executions: [...both('executions'), 'ex_01K0000000000000000000000Z'],
    webhooks: [...both('webhooks'), nobodys.webhook],
    'deletable-webhooks': [...own.spareWebhooks, ...other.webhooks],
    // So many that most are new, and some come again.
    keys: Array.from({ length: 1000 }, (_, nth) => `key-${nth}`),
    // The sender never gets further than the loopback: these are ours, or nobody's by RFC 2606, or refused.
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
