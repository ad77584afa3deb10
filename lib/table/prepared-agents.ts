import type { Organization } from '../contract/organization.ts';
import { type AgentHead, type StoredAgent, textKeys, wholeAgent } from './agent-items.ts';
import type { AgentStore, Assignment } from './agents.ts';
import { getItems } from './reads.ts';
import { Stale, untilFresh } from './transact.ts';

/** All that an agent brings to its work: prompt, soul, and the skills in the order in which they were assigned. */
export type PreparedAgent = Readonly<{ agent: StoredAgent; skills: readonly Assignment[] }>;

/** The most versions that are kept of a store. The prompt and the soul of each may have 50,000 characters. */
const versionsAtMost = 100;

/** The versions of agents that were read, by the store that they came from. */
const caches = new WeakMap<AgentStore, Map<string, PreparedAgent>>();

/**
 * Returns an agent as it is now, with the skills of that very version; `undefined` where there is none. Every change
 * makes another version, so the texts and skills of a version are read once.
 *
 * @param known the agent's head, where the caller has just read it
 */
export function readPreparedAgent(
  agents: AgentStore,
  organization: Organization,
  name: string,
  known?: AgentHead,
): Promise<PreparedAgent | undefined> {
  const { table } = agents;
  const versions = caches.get(agents) ?? new Map<string, PreparedAgent>();
  caches.set(agents, versions);
  let found = known;
  return untilFresh(table, async () => {
    found ??= await agents.head(organization, name);
    if (!found) return undefined;
    const { id, version } = found;
    const cached = versions.get(`${id} ${version}`);
    if (cached) return cached;
    const [texts, skills] = await Promise.all([
      getItems(table, textKeys(organization, found)),
      agents.skills(organization, id),
    ]);
    // What was read belongs to this version only if the agent still has it.
    const now = await agents.head(organization, name);
    if (now?.id !== id || now.version !== version) {
      found = undefined;
      throw new Stale();
    }
    const prepared = { agent: wholeAgent(found, texts), skills };
    versions.set(`${id} ${version}`, prepared);
    if (versions.size > versionsAtMost) versions.delete(versions.keys().next().value as string);
    return prepared;
  });
}
