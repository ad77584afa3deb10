import { processContext } from '../../lib/context.ts';
import { endpoints } from '../../lib/contract/endpoints.ts';
import { ulidFrom } from '../../lib/contract/ids.ts';
import type { Organization } from '../../lib/contract/organization.ts';
import type { Operation } from '../../lib/contract/routes.ts';
import { createApi } from '../api.ts';
import { type Answer, newCaller, type Sent, type Service } from '../service.ts';

/** What a request has beside its row and its token. */
export type Asked = Pick<Sent, 'params' | 'query' | 'body' | 'headers'>;

/** An organization that calls the functions of this process; nothing is in it yet but the system agents. */
export type Company = {
  service: Service;
  organization: Organization;
  token: string;
  /** Sends a request to the function of a row. */
  send: (operation: Operation, asked?: Asked) => Promise<Answer>;
  /** Sends one that must succeed, and answers its `data`. */
  ask: <Data = { id: string }>(operation: Operation, asked?: Asked) => Promise<Data>;
  /** Makes something of the company the first time that it is called for; afterwards it is there. */
  once: <Made>(what: string, make: () => Promise<Made>) => Promise<Made>;
};

/** Texts of the size that the costs are said for: an item with one of them stays below a kilobyte. */
export const text = 'A text of some length. '.repeat(20);

/** The ULID of a moment that is told apart from others by a number: the same in each run, and with it all that hangs on it. */
export function ulidOf(time: number, nth: number): string {
  return ulidFrom(Math.floor(time), new Uint8Array([0, 0, 0, 0, 0, 0, 0, 0, nth >> 8, nth & 255]));
}

/** Founds a company in the table that the handlers of this process are pointed at. */
export async function foundCompany(service: Service): Promise<Company> {
  const { organization, token } = await newCaller(processContext());
  const api = createApi(token);
  const send: Company['send'] = async (operation, asked = {}) => {
    const posted = 'body' in endpoints[operation] ? { body: asked.body ?? {} } : {};
    return api[operation]({ ...asked, ...posted });
  };
  const ask: Company['ask'] = async (operation, asked) => {
    const { status, body } = await send(operation, asked);
    if (status !== endpoints[operation].status) throw new Error(`${operation}: ${status} ${JSON.stringify(body)}`);
    return body.data as never;
  };
  const made = new Map<string, Promise<unknown>>();
  const once: Company['once'] = (what, make) => {
    if (!made.has(what)) made.set(what, make());
    return made.get(what) as never;
  };
  return { service, organization, token, send, ask, once };
}
