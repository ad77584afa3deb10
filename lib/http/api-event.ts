import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import type { Actor } from '../contract/actors.ts';
import type { Endpoint, Precondition, RequestOf, Scope } from '../contract/endpoint.ts';
import type { Organization } from '../contract/organization.ts';
import type { RecordResponse } from '../table/idempotency.ts';
import type { Admission } from './limits/requests.ts';

/** The caller of a request, as its access token identifies it. */
export type Caller = {
  organization: Organization;
  tokenId: string;
  /** What the token is for, in the words of the operator, if it has a name. */
  tokenName: string | undefined;
  /** The time at which the token was created; ISO 8601. */
  tokenCreatedAt: string;
  /** Whether the token was created as one of a person. */
  isPerson: boolean;
  scopes: readonly Scope[];
  /** The limit of requests per minute, if the organization has its own. */
  requestsPerMinute?: number | undefined;
};

/** The request that a behaviour gets: parsed and authenticated. */
export type BehaviourRequest<Row extends Endpoint> = RequestOf<Row> & {
  caller: Caller;
  /** Checks `If-Match` against the version of the resource. */
  ifMatch: Precondition;
  /** Returns the writes that record the response under the Idempotency-Key, for the transaction of the behaviour. */
  recordResponse: RecordResponse;
};

/** The state of a request. Each middleware of `serve` adds its part. */
type RequestState = Partial<Omit<BehaviourRequest<Endpoint>, 'params' | 'query' | 'body'>> & {
  params?: unknown;
  query?: unknown;
  body?: unknown;
  /** The note that the access token is used, which is being written. The promise never rejects. */
  useReport?: Promise<void> | undefined;
  /** The lease that this request has on its Idempotency-Key, if the endpoint calls out. */
  lease?: string | undefined;
  /** The endpoint whose request makes this one in the same process, and is counted. */
  countedAs?: string;
  /** The result of counting the request, if its organization has a limit. */
  admission?: Admission;
  /** The same for the limit of requests that call receivers or models. */
  callAdmission?: Admission;
};

/** A request from API Gateway (payload format 2.0), with the state of its processing. */
export type ApiEvent = APIGatewayProxyEventV2 & { state?: RequestState };

/** A response for API Gateway. */
export type ApiResult = APIGatewayProxyStructuredResultV2;

/** Returns a header of a request. API Gateway converts names to lower case and joins repeated headers with commas. */
export function header(event: APIGatewayProxyEventV2, name: string): string | undefined {
  return event.headers[name.toLowerCase()];
}

/**
 * Returns the caller of a request, which `authenticate` has identified.
 *
 * @throws `Error` for an endpoint without a scope
 */
export function callerOf(event: ApiEvent): Caller {
  if (!event.state?.caller) throw new Error('An endpoint without a scope has no caller.');
  return event.state.caller;
}

/** Returns who makes the changes of a caller's request. */
export function actorOf({ tokenId, tokenName, isPerson }: Caller): Actor {
  return { kind: isPerson ? 'person' : 'token', name: tokenName ?? tokenId, id: tokenId };
}
