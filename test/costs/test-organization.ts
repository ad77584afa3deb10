import { processContext } from '../../lib/context/context.ts';
import { endpoints } from '../../lib/contract/endpoints.ts';
import type { Organization } from '../../lib/contract/organization.ts';
import type { Operation } from '../../lib/contract/routes.ts';
import { createApi } from '../api.ts';
import { type Answer, newCaller, type Sent, type Service } from '../service.ts';

/** A request without its row and its token. */
export type Asked = Pick<Sent, 'params' | 'query' | 'body' | 'headers'>;

/** A new organization, and calls of the functions of this process with its token. */
export type TestOrganization = {
  service: Service;
  organization: Organization;
  token: string;
  /** Sends a request to the function of a row. */
  send: (operation: Operation, asked?: Asked) => Promise<Answer>;
  /** Sends a request that must succeed, and returns its `data`. */
  ask: <Data = { id: string }>(operation: Operation, asked?: Asked) => Promise<Data>;
  /** Calls a function the first time for a name, and returns the same result afterwards. */
  once: <Made>(what: string, make: () => Promise<Made>) => Promise<Made>;
};

/** The text of items in all figures: an item with one of them is smaller than a kilobyte. */
export const text = 'A text of some length. '.repeat(20);

/** Creates an organization in the table of this process's handlers. */
export async function createTestOrganization(service: Service): Promise<TestOrganization> {
  const { organization, token } = await newCaller(processContext());
  const api = createApi(token);
  const send: TestOrganization['send'] = async (operation, asked = {}) => {
    const posted = 'body' in endpoints[operation] ? { body: asked.body ?? {} } : {};
    return api[operation]({ ...asked, ...posted });
  };
  const ask: TestOrganization['ask'] = async (operation, asked) => {
    const { status, body } = await send(operation, asked);
    if (status !== endpoints[operation].status) throw new Error(`${operation}: ${status} ${JSON.stringify(body)}`);
    return body.data as never;
  };
  const made = new Map<string, Promise<unknown>>();
  const once: TestOrganization['once'] = (what, make) => {
    if (!made.has(what)) made.set(what, make());
    return made.get(what) as never;
  };
  return { service, organization, token, send, ask, once };
}
