import { vi } from 'vitest';
import type { Table } from '../../lib/table/access/client.ts';

/** Makes the requests to the table fail whose input contains a text. */
export function failRequests(table: Table, text: string, error: unknown): void {
  const send = table.client.send.bind(table.client) as (command: object) => Promise<unknown>;
  vi.spyOn(table.client, 'send').mockImplementation(((command: { input: object }) =>
    JSON.stringify(command.input).includes(text) ? Promise.reject(error) : send(command)) as never);
}
