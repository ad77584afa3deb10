/** What the OpenAPI document says of the interface as a whole, in Markdown. */
export const overview = `AI agents, the board of tasks they work on, and signed webhooks that tell other systems what happened.

## Authentication

Every path below \`/api\` needs \`Authorization: Bearer crew_…\`. Tokens are made by whoever runs the service, with \`npm run token -- create\`; each belongs to one organization and has scopes, of which an operation names the one it needs. No scope implies another. What is another organization's is answered like something absent.

## Answers

A success is \`{"success": true, "data": …}\`; lists have \`pagination\` beside it, with an exact \`total\`. A page of very large items can have a smaller \`limit\` than was asked: the next page is at the \`offset + limit\` of the answer. A refusal is \`{"success": false, "error": {…}}\` with a \`code\` from a closed list, a \`message\` that says what to do, the faults in \`details\`, and the \`requestId\` that \`X-Request-Id\` has too. Programs go by \`code\`. Fields that are not set are absent. Ignore fields that you do not know: there may be more one day.

Unknown fields and query parameters are refused, with the nearest known name. Lengths count Unicode code points. A body has at most 256 KiB.

## Safe retries

Send an \`Idempotency-Key\` with a POST, and repeat the very same request if no answer came: it is carried out once, and answered as the first time, with \`Idempotency-Replayed: true\`, for 24 hours. \`429\` and \`503\` say in \`Retry-After\` how many seconds to wait. Where a \`503\` says that the outcome is not known, read the resource before you repeat a PATCH or a DELETE.

## Limits

The requests that an organization may make in a minute are limited, and so are the executions that it may start. Responses name the limit in \`RateLimit-Policy: "requests";q=1200;w=60\` and the remaining requests in \`RateLimit: "requests";r=117;t=6\`: 117 more at once, and as many again after 6 seconds (draft-ietf-httpapi-ratelimit-headers). A tenth of the requests of a minute may come at once. More are answered \`429\` \`rate_limited\`; \`Retry-After\` says how many seconds to wait, and nothing was changed. A request with an invalid token is not counted; a duplicate under an \`Idempotency-Key\` is.

In AWS, API Gateway answers \`429\` and \`503\` by itself, as \`{"message": …}\` and without these headers, if all organizations together send more requests than the deployment allows.

## Concurrent changes

A task or an agent is read with an \`ETag\`. Sent back as \`If-Match\`, a change is refused with \`412\` if somebody was faster. Without it, changes of different fields both survive.

## Webhooks

The events are described under *webhooks*. Deliveries are signed with the webhook's secret, made up to four times (at once, then 5 minutes, 30 minutes and 2 hours after each failure), may come twice, and in any order: go by \`deliveryId\`, and answer 2xx at once.`;

/** What the document says of each family of paths, by its tag. */
export const tags: Readonly<Record<string, string>> = {
  'kanban-tasks': 'The board: tasks, their status, what they wait for, and who works on them.',
  agents: 'Agents, their prompts and skills; what they are asked to do, and how they have done.',
  webhooks: 'URLs that hear of events, test deliveries, and the history of attempts.',
  open: 'What anybody may ask for, without a token.',
};
