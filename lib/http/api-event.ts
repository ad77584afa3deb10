import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import type { Endpoint, Precondition, RequestOf, Scope } from '../contract/endpoint.ts';
import type { Organization } from '../contract/organization.ts';
import type { Admission } from '../limits/requests.ts';
import type { RecordResponse } from '../table/idempotency.ts';

/** Who calls: what the bearer token says. */
export type Caller = {
  organization: Organization;
  tokenId: string;
  scopes: readonly Scope[];
  /** How many requests the organization may make in a minute, if it has a limit of its own. */
  requestsPerMinute?: number | undefined;
};

/** What a behaviour is given: the parsed request, who calls, and what its own writes have to honour. */
export type BehaviourRequest<Row extends Endpoint> = RequestOf<Row> & {
  caller: Caller;
  /** Checks `If-Match` against the version that was read. */
  ifMatch: Precondition;
  /** Records the answer under the Idempotency-Key, in the store's own transaction. */
  recordResponse: RecordResponse;
};

/** What the middlewares have found out so far, each adding its part in the order in which they stand in `serve`. */
type RequestState = Partial<Omit<BehaviourRequest<Endpoint>, 'params' | 'query' | 'body'>> & {
  params?: unknown;
  query?: unknown;
  body?: unknown;
  /** Names this request's hold on its Idempotency-Key, for a row that calls out. */
  lease?: string | undefined;
  /** How it was counted, for an organization that has a limit. */
  admission?: Admission;
};

/** A request as API Gateway sends it (payload format 2.0). */
export type ApiEvent = APIGatewayProxyEventV2 & { state?: RequestState };

/** An answer as API Gateway takes it. */
export type ApiResult = APIGatewayProxyStructuredResultV2;

/** A request's header; API Gateway gives the names in lower case and joins repeated ones with commas. */
export function header(event: APIGatewayProxyEventV2, name: string): string | undefined {
  return event.headers[name.toLowerCase()];
}

/** Who calls, once `authenticate` has found it out. */
export function callerOf(event: ApiEvent): Caller {
  if (!event.state?.caller) throw new Error('A row without a scope has no caller.');
  return event.state.caller;
}
