import { randomUUID } from 'node:crypto';
import { ApiError } from '../contract/errors.ts';
import { ulidOf } from '../contract/ids.ts';
import type { Organization } from '../contract/organization.ts';
import type { Table } from './client.ts';
import { keys } from './keys.ts';
import { Conflict, ignoreConflict, transact } from './transact.ts';

/** A pass is over by then, in milliseconds: no request is answered later. */
const leaseMs = 30_000;

/** The passes of self-improvement that are under way: one an agent. */
export function openImprovementStore(table: Table, clock: () => number) {
  return {
    /**
     * Begins the pass of an agent.
     *
     * @returns what ends it; a pass that dies is over with its lease
     * @throws `ApiError` `improvement_in_progress`
     */
    async begin(organization: Organization, agentId: string): Promise<() => Promise<void>> {
      const Key = keys.improvement(organization, ulidOf(agentId));
      const claim = randomUUID();
      await transact(table, [
        {
          Put: {
            Item: { ...Key, claim, leaseUntil: clock() + leaseMs },
            ConditionExpression: 'attribute_not_exists(pk) OR leaseUntil <= :now OR claim = :claim',
            ExpressionAttributeValues: { ':now': clock(), ':claim': claim },
          },
          onConditionFailed: inProgress,
        },
      ]);
      return async () => {
        const own = { ConditionExpression: 'claim = :claim', ExpressionAttributeValues: { ':claim': claim } };
        await transact(table, [{ Delete: { Key, ...own }, onConditionFailed: () => new Conflict() }]).catch(
          ignoreConflict,
        );
      };
    },
  };
}

export type ImprovementStore = ReturnType<typeof openImprovementStore>;

function inProgress(): ApiError {
  return new ApiError(
    'improvement_in_progress',
    'This agent is improving itself right now; ask again when that has ended, within half a minute.',
  );
}
