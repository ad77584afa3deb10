import { toolScopesOf } from '../contract/agents/agent-operations.ts';
import { standardConduct } from '../contract/agents/standard-conduct.ts';
import type { Scope } from '../contract/endpoint.ts';
import { requireScopes } from '../contract/required-scopes.ts';
import type { StoredAgent } from '../table/agents/agent-items.ts';

/** The fields that decide which tools an agent has, and what its model does with them. Skills do too. */
const guidingFields = ['capabilities', 'systemPrompt', 'soul', 'model'] as const;

/**
 * Checks that a caller may decide what an agent does with its tools: the caller has the scopes that they stand for
 * (docs/agents.md#who-may-give-an-agent-tools).
 *
 * @throws `ApiError` `insufficient_scope`
 */
export function authorizeTools(
  scopes: readonly Scope[],
  { name, capabilities }: Pick<StoredAgent, 'name' | 'capabilities'>,
): void {
  requireScopes(scopes, toolScopesOf(capabilities), `the tools of ${name}`);
}

/** The fields by which an agent works without being asked. */
type Conduct = Pick<StoredAgent, 'autoRun' | 'autoAccept'>;

/**
 * Checks that a caller may let an agent start by itself, which runs it, and let its tasks be done without a person, which changes
 * tasks.
 *
 * @param before of a new agent: neither
 * @throws `ApiError` `insufficient_scope`
 */
export function authorizeConduct(
  scopes: readonly Scope[],
  after: Conduct & Pick<StoredAgent, 'name'>,
  before: Conduct = standardConduct,
): void {
  if (after.autoRun && !before.autoRun)
    requireScopes(scopes, ['agents:execute'], `the executions that ${after.name} starts by itself`);
  if (after.autoAccept && !before.autoAccept)
    requireScopes(scopes, ['tasks:write'], `the tasks that ${after.name} finishes without a review`);
}

/**
 * Checks that a caller may make a change of an agent. A change that does not concern the tools needs no further scope, so
 * an agent can always be set inactive. Both the tools before the change and those after it count.
 *
 * @throws `ApiError` `insufficient_scope`
 */
export function authorizeAgentChange(scopes: readonly Scope[], before: StoredAgent, after: StoredAgent): void {
  const isGuided = guidingFields.some((field) => JSON.stringify(before[field]) !== JSON.stringify(after[field]));
  const capabilities = [...before.capabilities, ...after.capabilities];
  if (isGuided) authorizeTools(scopes, { name: before.name, capabilities });
  authorizeConduct(scopes, after, before);
}
