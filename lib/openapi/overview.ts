/** The description of the API as a whole in the OpenAPI document, in Markdown. */
export const overview = `AI agents, a board of tasks for them, and signed webhooks that notify other systems of changes.

## Authentication

Every path below \`/api\` requires an access token: \`Authorization: Bearer crew_…\`. The operator of the service creates tokens with \`npm run token -- create\`. A token belongs to one organization and has scopes. Each operation names the scope that it requires; no scope implies another. Resources of other organizations are treated as absent.

## Responses

A successful response is \`{"success": true, "data": …}\`. Paged lists also have \`pagination\`, with an exact \`total\`. A page of very large items can have a smaller \`limit\` than requested: the next page starts at \`offset + limit\` of the response.

An error response is \`{"success": false, "error": {…}}\`. The error has a \`code\`, which programs evaluate; a \`message\` for people, which says what to do; \`details\`, the list of problems in the request, if there are any; and the \`requestId\`, which is also in the header \`X-Request-Id\`. The list of codes is closed.

Fields that are not set are absent. Ignore fields that you do not know: later versions can add fields.

## Requests

Unknown fields and query parameters lead to an error that suggests the most similar known name. The unit of text lengths is the Unicode code point. A body can have at most 256 KiB.

## Safe retries

Send an \`Idempotency-Key\` with each POST. If you get no response, repeat the same request with the same key: the service processes it only once. For 24 hours, a duplicate request gets the response of the first request, with \`Idempotency-Replayed: true\`. The header \`Retry-After\` of \`429\` and \`503\` responses has the number of seconds to wait. If the message of a \`503\` says that the outcome is not known, read the resource before you repeat a PATCH or a DELETE.

## Limits

The number of requests per minute and the number of executions started per minute are limited for each organization. Responses have the limit in \`RateLimit-Policy: "requests";q=1200;w=60\` and the remaining requests in \`RateLimit: "requests";r=117;t=6\`: 117 more requests are possible immediately, and as many again after 6 seconds (draft-ietf-httpapi-ratelimit-headers). A burst can have a tenth of the requests of a minute. Requests above the limit get \`429\` \`rate_limited\`; \`Retry-After\` has the number of seconds to wait, and nothing was changed. Requests with an invalid token do not count; duplicate requests with an \`Idempotency-Key\` do.

In AWS, API Gateway itself responds with \`429\` or \`503\`, with the body \`{"message": …}\` and without these headers, if all organizations together send more requests than the deployment allows.

## Concurrent changes

Responses with a task or an agent have an \`ETag\`. Send it as \`If-Match\` with a change: the change fails with \`412\` if the resource has changed since. Without \`If-Match\`, concurrent changes of different fields both take effect.

## Webhooks

The section *webhooks* describes the events. Deliveries are signed with the secret of the webhook. A delivery has up to four attempts: the first immediately, retries after 5 minutes, 30 minutes and 2 hours. Deliveries can arrive more than once and in any order: use \`deliveryId\` to detect duplicates, and respond with a 2xx status immediately.`;

/** The description of each tag, which groups the operations of a path family. */
export const tags: Readonly<Record<string, string>> = {
  'kanban-tasks': 'Tasks on the board: their status, their dependencies and their assigned agents.',
  agents: 'Agents with their prompts and skills, their executions and their metrics.',
  webhooks: 'Webhooks, test deliveries and the delivery history.',
  open: 'Endpoints that need no access token.',
};
