import type { Organization } from '../contract/organization.ts';
import { type AgentHead, type StoredAgent, textKeys, wholeAgent } from './agent-items.ts';
import { type AgentContext, type Assignment, readAgentHead, readAgentSkills } from './agents.ts';
import { getItems } from './reads.ts';
import { Conflict, retryOnConflict } from './transact.ts';

/** All that an agent brings to its work: prompt, soul, and the skills in the order in which they were assigned. */
export type PreparedAgent = Readonly<{ agent: StoredAgent; skills: readonly Assignment[] }>;

/** The most versions that a context remembers. The prompt and the soul of each may have 50,000 characters. */
const versionsAtMost = 100;

/** The part of a context that prepared agents need. */
export type PreparingContext = AgentContext & {
  /** The versions of agents that this process has read lately. */
  preparedAgents: Map<string, PreparedAgent>;
};

/**
 * Returns an agent as it is now, with the skills of that very version; `undefined` where there is none. Every change
 * makes another version, so the texts and skills of a version are read once.
 *
 * @param known the agent's head, where the caller has just read it
 */
export function readPreparedAgent(
  context: PreparingContext,
  organization: Organization,
  name: string,
  known?: AgentHead,
): Promise<PreparedAgent | undefined> {
  const { table, preparedAgents: versions } = context;
  let found = known;
  return retryOnConflict(table, async () => {
    found ??= await readAgentHead(context, organization, name);
    if (!found) return undefined;
    const { id, version } = found;
    const cached = versions.get(`${id} ${version}`);
    if (cached) return cached;
    const [texts, skills] = await Promise.all([
      getItems(table, textKeys(organization, found)),
      readAgentSkills(context, organization, id),
    ]);
    // What was read belongs to this version only if the agent still has it.
    const now = await readAgentHead(context, organization, name);
    if (now?.id !== id || now.version !== version) {
      found = undefined;
      throw new Conflict();
    }
    const prepared = { agent: wholeAgent(found, texts), skills };
    versions.set(`${id} ${version}`, prepared);
    if (versions.size > versionsAtMost) versions.delete(versions.keys().next().value as string);
    return prepared;
  });
}
