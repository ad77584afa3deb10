import { setBounded } from '../../contract/bounded-map.ts';
import type { Organization } from '../../contract/organization.ts';
import { getItems } from '../access/reads.ts';
import { Conflict, retryOnConflict } from '../access/transact.ts';
import { type AgentHead, type StoredAgent, textKeys, wholeAgent } from './agent-items.ts';
import { type AgentContext, type Assignment, readAgentHead, readAgentSkills } from './agents.ts';

/** An agent with its texts, and its skills in the order of their assignment. Its executions need them. */
export type PreparedAgent = Readonly<{ agent: StoredAgent; skills: readonly Assignment[] }>;

/**
 * The maximum number of versions that a context caches. The prompt and the soul of a version can have 50,000 characters
 * each.
 */
const maxVersions = 100;

/** The part of a context that `readPreparedAgent` needs. */
export type PreparingContext = AgentContext & {
  /** The cache of agents, by id and version, the oldest first. */
  preparedAgents: Map<string, PreparedAgent>;
};

/**
 * Returns the current version of an agent with its texts and skills; `undefined` if it does not exist. The texts and
 * skills of a version never change, so they are read once for each version.
 *
 * @param known the agent without its texts, if the caller has just read it
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
    // The skills belong to this version only if the agent has not changed since.
    const current = await readAgentHead(context, organization, name);
    if (current?.id !== id || current.version !== version) {
      found = undefined;
      throw new Conflict();
    }
    const prepared = { agent: wholeAgent(found, texts), skills };
    setBounded(versions, `${id} ${version}`, prepared, maxVersions);
    return prepared;
  });
}
