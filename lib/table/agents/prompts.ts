import { ulidOf } from '../../contract/ids.ts';
import type { Organization } from '../../contract/organization.ts';
import type { TableContext } from '../access/client.ts';
import { keys } from '../access/keys.ts';
import { getItem, readRange } from '../access/reads.ts';
import { type PromptChange, promptChangeFrom, textFrom } from './agent-items.ts';

/** Returns the changes of an agent's prompt, the newest first. `readPrompt` returns the prompt of a change. */
export async function readPromptChanges(
  { table }: TableContext,
  organization: Organization,
  agentId: string,
): Promise<PromptChange[]> {
  const pk = keys.agentTexts(organization, ulidOf(agentId));
  const items = await readRange(table, { pk, from: '@', to: '@~' });
  return items.map(promptChangeFrom);
}

/**
 * Returns the current or a former prompt of an agent by its hash, or its soul; `undefined` if the agent never had this
 * text.
 */
export async function readPrompt(
  { table }: TableContext,
  organization: Organization,
  agentId: string,
  hash: string,
): Promise<string | undefined> {
  const item = await getItem(table, keys.agentText(organization, ulidOf(agentId), hash));
  return textFrom(hash, item);
}
