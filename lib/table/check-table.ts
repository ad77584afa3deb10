import type { TableContext } from './access/client.ts';
import { keys } from './access/keys.ts';
import { getItem } from './access/reads.ts';

/**
 * Checks that the table can be read, by an item that is always absent.
 *
 * @throws the error of DynamoDB
 */
export async function checkTable({ table }: TableContext): Promise<undefined> {
  await getItem(table, keys.check());
}
