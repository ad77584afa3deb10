import type { MiddlewareObj } from '@middy/core';
import type { Context } from '../../context/context.ts';
import type { Endpoint } from '../../contract/endpoint.ts';
import { type ApiEvent, type ApiResult, callerOf } from '../api-event.ts';
import { admitRequest } from '../limits/requests.ts';

/**
 * Returns the middleware that counts the request of an authenticated caller, and responds with 429 if the organization
 * is above its limit of requests per minute. A duplicate request counts like any other. A request that another request
 * makes in this process is not counted again.
 */
export function limitRequests(getContext: () => Context): MiddlewareObj<ApiEvent, ApiResult> {
  return {
    before: ({ event }) => {
      if (event.state?.countedAs) return;
      const { organization, requestsPerMinute = getContext().limits.requestsPerMinute } = callerOf(event);
      if (requestsPerMinute === undefined) return;
      const admission = admitRequest(getContext(), organization, requestsPerMinute);
      event.state = { ...event.state, admission };
      if (admission.error) throw admission.error;
    },
  };
}

/**
 * Returns the middleware that also counts a request to an endpoint that calls a receiver or a model, and responds with 429 if
 * the organization is above its limit of them. Such a request occupies a container for seconds, so without a limit of its own
 * one organization could use the capacity of all.
 */
export function limitCallsOut(row: Endpoint, getContext: () => Context): MiddlewareObj<ApiEvent, ApiResult> {
  return {
    before: ({ event }) => {
      const perMinute = row.callsOut && getContext().limits.callsOutPerMinute;
      if (perMinute === undefined) return;
      const callAdmission = admitRequest(getContext(), callerOf(event).organization, perMinute, 'calls-out');
      event.state = { ...event.state, callAdmission };
      if (callAdmission.error) throw callAdmission.error;
    },
  };
}
