import { deliveryId } from '../contract/examples.ts';
import { Timestamp } from '../contract/shapes.ts';
import { type EventName, eventNames, eventRows } from '../contract/webhooks/events.ts';
import { DeliveryId } from '../contract/webhooks/webhooks.ts';
import { eventsTag } from './overview.ts';
import { type Json, schemaOf } from './schemas.ts';

const onlySigned = 'Present if the webhook has a secret.';

const onlyInOverlap = 'Present during the overlap of a rotation of the secret.';

/** The headers of a delivery. The Standard Webhooks specification defines the last three. */
const headers = [
  { name: 'X-Service-Event', required: true, description: 'The name of the event.' },
  {
    name: 'X-Service-Delivery',
    required: true,
    description: 'The id of the delivery. All attempts of a delivery have the same id.',
  },
  {
    name: 'X-Service-Timestamp',
    required: true,
    description: 'The Unix time of this attempt, in seconds.',
  },
  {
    name: 'X-Service-Signature',
    required: false,
    description: `\`sha256=\` followed by the lowercase hex HMAC-SHA256 of the raw request body, keyed with the secret. ${onlySigned}`,
  },
  {
    name: 'X-Service-Signature-Previous',
    required: false,
    description: `The same as \`X-Service-Signature\`, keyed with the replaced secret. ${onlyInOverlap}`,
  },
  {
    name: 'webhook-id',
    required: false,
    description: `The id of the delivery, as in Standard Webhooks. ${onlySigned}`,
  },
  {
    name: 'webhook-timestamp',
    required: false,
    description: `The time of this attempt, as in Standard Webhooks. ${onlySigned}`,
  },
  {
    name: 'webhook-signature',
    required: false,
    description: `The signature, as in Standard Webhooks. During the overlap of a rotation of the secret it has two, separated by a space. ${onlySigned}`,
  },
].map((header) => ({ ...header, in: 'header', schema: { type: 'string' } }));

/** Returns the operation id of an event: `taskStatusChanged` for `task.status_changed`. */
const operationOf = (event: EventName) => event.replaceAll(/[._](\w)/g, (_, letter: string) => letter.toUpperCase());

/** Returns the request to receivers for each event, for `webhooks` of the document. */
export function documentedEvents(): Json {
  return Object.fromEntries(eventNames.map((event) => [event, { post: deliveryOf(event) }]));
}

function deliveryOf(event: EventName): Json {
  const { when, data: schema, example: data } = eventRows[event];
  const properties = {
    event: { type: 'string', const: event },
    deliveryId: schemaOf(DeliveryId, 'output'),
    timestamp: { ...schemaOf(Timestamp, 'output'), description: 'The time of this attempt.' },
    data: schemaOf(schema, 'output'),
  };
  return {
    operationId: operationOf(event),
    summary: event,
    description: `${when}.\n\nRespond with a 2xx status within ten seconds, before you process the event. Any other status and a timeout lead to a retry.`,
    tags: [eventsTag.name],
    security: [],
    parameters: headers,
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: { type: 'object', properties, required: Object.keys(properties) },
          example: { event, deliveryId, timestamp: data.occurredAt, data },
        },
      },
    },
    responses: {
      '2XX': { description: 'The delivery succeeded.' },
      default: {
        description:
          'The attempt failed. The service retries after 5 minutes, then after 30 minutes, then after 2 hours.',
      },
    },
  };
}
