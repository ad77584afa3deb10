import { ulidFrom } from '../../../lib/contract/ids.ts';
import { appendEvent } from '../../../lib/table/events/event-log.ts';
import type { Asked, TestOrganization } from '../test-organization.ts';
import { register } from './webhook-scenarios.ts';

const beginning = `ev_${'0'.repeat(26)}`;

/** Appends events of about half a kilobyte, of the last minutes; returns the id of the newest. */
async function append({ service, organization }: TestOrganization, count: number): Promise<string> {
  const context = { table: service.table, batchers: {} };
  const from = Date.now() - 300_000;
  const data = JSON.stringify({ task: { id: 'tk_1', title: 'A task of the board. '.repeat(18), status: 'backlog' } });
  const ids = Array.from({ length: count }, (_, nth) => `ev_${ulidFrom(from + nth, new Uint8Array(10))}`);
  const rest = { organization, event: 'task.created', item: 'tk_1', version: 1, data } as const;
  await Promise.all(ids.map((id) => appendEvent(context, { ...rest, id })));
  return ids.at(-1) as string;
}

/** For each budget of a row of the event log: creates the items in the table, and returns the measured request. */
export const eventScenarios = {
  listEvents: {
    'the newest 20 of 25': async (caller) => {
      await append(caller, 25);
      return {};
    },
    '20 of 25 after a position': async (caller) => {
      await append(caller, 25);
      return { query: `after=${beginning}` };
    },
    'after a position, none': async (caller) => ({ query: `after=${await append(caller, 25)}` }),
  },
  getEvent: {
    'to two webhooks': async (caller) => {
      for (let nth = 0; nth < 2; nth++) await register(caller);
      return { params: { id: await append(caller, 1) } };
    },
  },
} satisfies Record<string, Record<string, (caller: TestOrganization) => Promise<Asked>>>;
