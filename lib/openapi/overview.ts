import { toolScopesOf } from '../contract/agents/agent-operations.ts';
import { toolCapabilities } from '../contract/agents/agents.ts';

const code = (text: string) => `\`${text}\``;

/** Links to the guides on the documentation page, which work wherever the service serves the document. */
const agentsGuide = '[How agents work](/docs#tag/guide-agents)';
const webhooksGuide = '[Receiving webhooks](/docs#tag/guide-receiving-webhooks)';

/** The description of the API as a whole in the OpenAPI document, in Markdown. */
export const overview = `AI agents, a board of tasks for them, and signed webhooks that notify other systems of changes.

Guides:

- ${agentsGuide}: prompts, executions, quality gates, delegation, metrics and self-improvement.
- ${webhooksGuide}: events, signatures, retries, and receivers in Node.js, Python and Go.

## Authentication

Every path below \`/api\` requires an access token: \`Authorization: Bearer crew_…\`. The operator of the service creates tokens with \`npm run crewboard -- token create\`. A token belongs to one organization and has scopes. Each operation names the scopes that it requires, if any; no scope implies another. Resources of other organizations are treated as absent.

To create an agent with tools, or to change what it does with them, an access token also needs the scopes of these tools. To run an agent, \`agents:execute\` is enough: the agent uses all its tools.

| Capability | Scopes of its tools |
|---|---|
${toolCapabilities.map((one) => `| ${code(one)} | ${toolScopesOf([one]).map(code).join(', ')} |`).join('\n')}

## Responses

A successful response is \`{"success": true, "data": …}\`. Paged lists also have \`pagination\`, with an exact \`total\`. A page of very large items can have a smaller \`limit\` than requested: the next page starts at \`offset + limit\` of the response.

An error response is \`{"success": false, "error": {…}}\`. The error has a \`code\`, which programs evaluate; a \`message\` for people, which says what to do; \`details\`, the list of problems in the request, if there are any; and the \`requestId\`, which is also in the header \`X-Request-Id\`. The list of codes is closed.

Fields that are not set are absent. Ignore fields that you do not know: later versions can add fields.

## Requests

\`/\`, \`/health\`, \`/docs\`, \`/openapi.json\` and the files of the console also answer \`HEAD\`. Unknown fields and query parameters lead to an error that suggests the most similar known name. The unit of text lengths is the Unicode code point. No text may contain U+0000. Titles, names and inputs need a visible character; titles and names may have no control characters other than tab and line breaks. A body can have at most 256 KiB.

## Tools for models

Agents can call the operations as tools over the Model Context Protocol: \`POST /mcp\`, with the same access tokens. It is not in this document, because the protocol describes its own messages.

## Examples

The first example of each operation works on a new organization. Only ids that the service generates, such as \`tk_…\`, have to be replaced by the ids of your own responses. The agents \`qa-reviewer\` and \`prompt-improver\` exist in every organization. Examples that change an agent use \`builder\`, which the example of *Create an agent* creates.

## Safe retries

Send an \`Idempotency-Key\` with each POST. If you get no response, repeat the same request with the same key: the service processes it only once. For 24 hours, a duplicate request gets the response of the first request, with \`Idempotency-Replayed: true\`. The header \`Retry-After\` of \`429\` and \`503\` responses has the number of seconds to wait. If the message of a \`503\` says that the outcome is not known, read the resource before you repeat a PATCH or a DELETE.

## Limits

The number of requests per minute and the number of executions started per minute are limited for each organization. Requests that call a receiver or a model, *Send a test event* and *Improve an agent*, have a lower limit. An organization can also have a budget of tokens per UTC day; when it is used, no execution starts until the next day. Responses have the limit in \`RateLimit-Policy: "requests";q=1200;w=60\` and the remaining requests in \`RateLimit: "requests";r=117;t=6\`: 117 more requests are possible immediately, and as many again after 6 seconds (draft-ietf-httpapi-ratelimit-headers). The two have different windows: the policy has the average over \`w\` seconds, while \`r\` is what a burst can use now, at most a tenth of \`q\` (but at least ten), and \`t\` is the time in which as many become available again, not the rest of \`w\`. With \`r=0\`, one request is possible after \`t\` seconds. A client that sends at most \`r\` requests in \`t\` seconds stays below the limit. Only executions are counted by the minute of the clock: there \`t\` is the rest of \`w\`. Requests above the limit get \`429\` \`rate_limited\`; \`Retry-After\` has the number of seconds to wait, and nothing was changed. Requests with an invalid token do not count; duplicate requests with an \`Idempotency-Key\` do.

In AWS, API Gateway itself responds with \`429\` or \`503\`, with the body \`{"message": …}\` and without these headers, if all organizations together send more requests than the deployment allows.

## Concurrent changes

Responses with a task, an agent or a webhook have an \`ETag\`, an opaque text that names its version. Send it as \`If-Match\` with a change: the change fails with \`412\` if the resource has changed since. Without \`If-Match\`, concurrent changes of different fields both take effect.

## Webhooks

The section [Events](/docs#tag/events) describes the events. Deliveries are signed with the secret of the webhook. A delivery has up to four attempts: the first immediately, retries after 5 minutes, 30 minutes and 2 hours. Deliveries can arrive more than once and in any order: use \`deliveryId\` to detect duplicates, and respond with a 2xx status immediately.`;

/** A tag, which groups operations. */
type Tag = { name: string; description: string };

/** The tag of the operations of each path family. */
export const tags: Readonly<Record<string, Tag>> = {
  'kanban-tasks': {
    name: 'Tasks',
    description: 'Tasks on the board: their status, their dependencies and their assigned agents.',
  },
  agents: {
    name: 'Agents',
    description: `Agents with their prompts and skills, their executions and their metrics. Guide: ${agentsGuide}.`,
  },
  webhooks: {
    name: 'Webhooks',
    description: `Webhooks, test deliveries and the delivery history. Guide: ${webhooksGuide}.`,
  },
  me: { name: 'Access', description: 'What the access token of a request is, and may do.' },
  open: { name: 'Service', description: 'Endpoints that need no access token.' },
};

/** The tag of the events. */
export const eventsTag: Tag = {
  name: 'Events',
  description: `The requests that webhooks receive, one for each event. Guide: ${webhooksGuide}.`,
};
