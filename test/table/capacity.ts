import type { ConsumedCapacity, ServiceInputTypes, ServiceOutputTypes } from '@aws-sdk/client-dynamodb';
import type { Table } from '../../lib/table/client.ts';
import { startRounds } from './rounds.ts';

/** The cost of a call: its requests, the rounds of requests that waited for one another, and the capacity units. */
export type Cost = { requests: number; rounds: number; rcu: number; wcu: number };

/** A request to the table as it was sent, before it is marshalled. */
type Sent = { command: string; input: ServiceInputTypes };

/** The capacity units of a request. Write units of the index are counted separately. */
export type Units = { rcu: number; wcu: number; indexWcu: number };

/**
 * Returns the engine's count of a request that was sent with `ReturnConsumedCapacity: 'INDEXES'`.
 *
 * @param command the class name of the request in any client
 */
export function unitsOf(command: string, output: ServiceOutputTypes): Units {
  const units = { rcu: 0, wcu: 0, indexWcu: 0 };
  for (const { Table: used = {}, GlobalSecondaryIndexes: indexes = {} } of consumed(output)) {
    const inIndexes = Object.values(indexes);
    if (/^(Get|BatchGet|Query)/.test(command))
      for (const { CapacityUnits = 0 } of [used, ...inIndexes]) units.rcu += CapacityUnits;
    else {
      const rcu = used.ReadCapacityUnits ?? 0;
      units.rcu += rcu;
      units.wcu += used.WriteCapacityUnits ?? (used.CapacityUnits ?? 0) - rcu;
      for (const index of inIndexes) units.indexWcu += index.WriteCapacityUnits ?? index.CapacityUnits ?? 0;
    }
  }
  return units;
}

/**
 * Counts the requests to a table. The capacity is the engine's count (`ReturnConsumedCapacity`) without writes of
 * indexes. While a cost is measured, the responses of a round are delivered together (`startRounds`).
 */
export function meter(table: Table) {
  let cost: Cost;
  let sent: Sent[];
  let inRounds = false;
  const reset = () => {
    cost = { requests: 0, rounds: 0, rcu: 0, wcu: 0 };
    sent = [];
  };
  reset();
  let round = 1;
  const endOfRound = startRounds(() => {
    round += 1;
  });

  table.client.middlewareStack.add(
    (next, context) => async (args) => {
      const command = context.commandName ?? '';
      const held = inRounds && endOfRound();
      cost.requests += 1;
      cost.rounds = Math.max(cost.rounds, round);
      sent.push({ command, input: args.input });
      const input = { ...args.input, ReturnConsumedCapacity: 'INDEXES' } as ServiceInputTypes;
      try {
        const result = await next({ ...args, input });
        const { rcu, wcu } = unitsOf(command, result.output);
        cost.rcu += rcu;
        cost.wcu += wcu;
        return result;
      } finally {
        if (held) await held();
      }
    },
    { step: 'initialize', name: 'meter' },
  );

  return {
    /** Returns the cost of an action. Actions must not be concurrent. */
    async costOf(action: () => Promise<unknown>): Promise<Cost> {
      reset();
      [round, inRounds] = [1, true];
      await action().finally(() => {
        inRounds = false;
      });
      return cost;
    },

    /** Returns the number of items in each transaction of an action. */
    async transactionsOf(action: () => Promise<unknown>): Promise<number[]> {
      reset();
      await action();
      return sent.flatMap(({ input }) => ('TransactItems' in input ? [input.TransactItems?.length ?? 0] : []));
    },
  };
}

function consumed(output: ServiceOutputTypes): ConsumedCapacity[] {
  if (!('ConsumedCapacity' in output)) return [];
  return [output.ConsumedCapacity ?? []].flat() as ConsumedCapacity[];
}
