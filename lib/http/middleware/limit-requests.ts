import type { MiddlewareObj } from '@middy/core';
import type { Context } from '../../context.ts';
import { admitRequest } from '../../limits/requests.ts';
import { type ApiEvent, type ApiResult, callerOf } from '../api-event.ts';

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
