import type { MiddlewareObj } from '@middy/core';
import type { App } from '../app.ts';
import type { Endpoint } from '../contract/endpoint.ts';
import { Refusal } from '../contract/refusals.ts';
import type { Request } from '../table/idempotency.ts';
import { AlreadyDone, unavailable } from '../table/transact.ts';
import { pick, replay } from './envelope.ts';
import { type ApiEvent, type ApiResult, callerOf, header } from './exchange.ts';

/**
 * Carries a POST with an Idempotency-Key out once: answers from the record where there is one, before any look at
 * state, and else hands the store the write that makes the record, so that it lands with the mutation or not at all.
 */
export function idempotent(row: Endpoint, open: () => App): MiddlewareObj<ApiEvent, ApiResult> {
  return {
    before: async ({ event }) => {
      const request = requestOf(row, event);
      if (!request) return undefined;
      const { organization } = callerOf(event);
      const { idempotency } = open();
      const once = (answer: unknown) => idempotency.record(organization, request, row.data && pick(row.data, answer));
      event.served = { ...event.served, once };
      return recorded(row, event, request, open());
    },
    onError: async (exchange) => {
      if (!(exchange.error instanceof AlreadyDone)) return;
      const request = requestOf(row, exchange.event) as Request;
      try {
        exchange.response = await recorded(row, exchange.event, request, open());
        if (!exchange.response) exchange.error = unavailable();
      } catch (error) {
        exchange.error = error as Error;
      }
    },
  };
}

function requestOf(row: Endpoint, event: ApiEvent): Request | undefined {
  const key = row.method === 'POST' && row.scope ? header(event, 'Idempotency-Key') : undefined;
  if (key === undefined) return undefined;
  return { key, operation: `${row.method} ${row.path}`, path: event.rawPath, body: event.served?.body };
}

async function recorded(row: Endpoint, event: ApiEvent, request: Request, app: App): Promise<ApiResult | undefined> {
  const { organization } = callerOf(event);
  const found = await app.idempotency.find(organization, request);
  if (found === 'another request')
    throw new Refusal('idempotency_key_reused', 'This Idempotency-Key was used for another request; take a new one.');
  return found && replay(row, event, found.data);
}
