import type { ImprovementPass } from '../../contract/agents/improvements.ts';
import type { Page } from '../../contract/endpoint.ts';
import { ApiError } from '../../contract/errors.ts';
import { ulidOf } from '../../contract/ids.ts';
import type { Organization } from '../../contract/organization.ts';
import type { TableContext } from '../access/client.ts';
import { keys } from '../access/keys.ts';
import { getEach, readRange } from '../access/reads.ts';
import { Conflict, transact } from '../access/transact.ts';
import type { Write } from '../access/write.ts';
import { createLease, deleteLease, leaseFree, leaseHeld, leaseTimes } from '../lease.ts';

/**
 * Leases the self-improvement of an agent: one pass at a time.
 *
 * @returns the id of the lease, for `endImprovementLease`; a pass that does not end expires with its lease
 * @throws `ApiError` `improvement_in_progress`
 */
export async function leaseImprovement(
  { table, clock }: TableContext & { clock: () => number },
  organization: Organization,
  agentId: string,
): Promise<string> {
  const now = clock();
  const lease = createLease(now);
  await transact(table, [
    {
      Put: {
        Item: { ...keys.improvement(organization, ulidOf(agentId)), ...lease },
        // The SDK's own second try finds the lease of the first.
        ConditionExpression: `${leaseFree()} OR ${leaseHeld}`,
        ExpressionAttributeValues: { ...leaseTimes(now, lease.leaseUntil), ':claim': lease.claim },
      },
      onConditionFailed: inProgress,
    },
  ]);
  return lease.claim;
}

/** Ends the lease of a pass; does nothing if the lease has expired and another pass holds it. */
export function endImprovementLease(
  context: TableContext,
  organization: Organization,
  agentId: string,
  leaseId: string,
): Promise<void> {
  return deleteLease(context, keys.improvement(organization, ulidOf(agentId)), leaseId);
}

/** The part of a pass that can be long. */
type Proof = Pick<ImprovementPass, 'proposal' | 'votes' | 'chance' | 'trials'>;

/** Returns the writes that store a pass: its result and its proof. */
export function improvementWrites(
  organization: Organization,
  agentId: string,
  { id, proposal, votes, chance, trials, ...result }: ImprovementPass,
): Write[] {
  const [agent, pass] = [ulidOf(agentId), ulidOf(id)];
  const proof: Proof = { proposal, votes, chance, trials };
  return [
    { Put: { Item: { ...keys.improvementPass(organization, agent, pass), ...result } } },
    { Put: { Item: { ...keys.improvementProof(organization, agent, pass), proof: JSON.stringify(proof) } } },
  ];
}

/** Returns the condition that an agent was not deleted: its purge would not find an item that is written after it. */
export function agentExists(organization: Organization, { id, name }: { id: string; name: string }): Write {
  return {
    ConditionCheck: {
      Key: keys.agent(organization, name),
      ConditionExpression: 'id = :id',
      ExpressionAttributeValues: { ':id': id },
    },
    onConditionFailed: () => new Conflict(),
  };
}

/** Returns a page of the passes of an agent, newest first, and their exact number. */
export async function readImprovementPage(
  { table }: TableContext,
  organization: Organization,
  agentId: string,
  { limit, offset }: { limit: number; offset: number },
): Promise<Page<ImprovementPass>> {
  const agent = ulidOf(agentId);
  const results = await readRange(table, keys.improvementPasses(organization, agent));
  const page = results.slice(offset, offset + limit);
  const proofs = await getEach(
    table,
    page.map(({ sk }) => keys.improvementProof(organization, agent, sk as string)),
  );
  const items = page.flatMap(({ pk, sk, ...result }, at) => {
    const proof = proofs[at]?.proof;
    // Without a proof, the agent was purged between the reads.
    return proof === undefined ? [] : [{ id: `im_${sk}`, ...result, ...(JSON.parse(proof as string) as Proof) }];
  });
  return { items: items as unknown as ImprovementPass[], total: results.length };
}

function inProgress(): ApiError {
  return new ApiError(
    'improvement_in_progress',
    'A self-improvement of this agent is in progress; retry when it has ended, within 30 seconds.',
  );
}
