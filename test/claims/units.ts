import type { ServiceOutputTypes } from '@aws-sdk/client-dynamodb';
import type { Table } from '../../lib/table/access/client.ts';
import { unitsOf } from '../table/fixtures/capacity.ts';

/**
 * Counts the read and write units of a table from now on, also the units of its index. A transaction that is cancelled takes the
 * units of its items: here two for each.
 *
 * @returns ends the count, and returns it
 */
export function meterUnits(table: Table): () => number {
  const { client } = table;
  const send = client.send.bind(client) as (command: object) => Promise<ServiceOutputTypes>;
  let units = 0;
  const metered = async (command: { input: { TransactItems?: unknown[] } }) => {
    Object.assign(command.input, { ReturnConsumedCapacity: 'INDEXES' });
    try {
      const output = await send(command);
      const { rcu, wcu, indexWcu } = unitsOf(command.constructor.name, output);
      units += rcu + wcu + indexWcu;
      return output;
    } catch (error) {
      units += 2 * (command.input.TransactItems?.length ?? 0.5);
      throw error;
    }
  };
  client.send = metered as typeof client.send;
  return () => {
    client.send = send as typeof client.send;
    return units;
  };
}
