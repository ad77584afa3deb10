import { type EventName, eventNames } from '../contract/events.ts';
import { deliveryId } from '../contract/examples.ts';
import { Timestamp } from '../contract/shapes.ts';
import { DeliveryId } from '../contract/webhooks.ts';
import { events } from './event-words.ts';
import { type Json, refersTo, schemaOf } from './schemas.ts';

const onlySigned = 'There if the webhook has a secret.';

/** The headers of a delivery; the last three are those of Standard Webhooks. */
const headers = [
  { name: 'X-Service-Event', required: true, description: 'The name of the event.' },
  { name: 'X-Service-Delivery', required: true, description: 'The id of the delivery: the same for all its attempts.' },
  { name: 'X-Service-Timestamp', required: true, description: 'When this attempt was made, in Unix seconds.' },
  {
    name: 'X-Service-Signature',
    required: false,
    description: `\`sha256=\` and the lowercase hex HMAC-SHA256 of the raw body, keyed with the secret. ${onlySigned}`,
  },
  { name: 'webhook-id', required: false, description: `The id of the delivery, for Standard Webhooks. ${onlySigned}` },
  { name: 'webhook-timestamp', required: false, description: `The timestamp, for Standard Webhooks. ${onlySigned}` },
  { name: 'webhook-signature', required: false, description: `The signature of Standard Webhooks. ${onlySigned}` },
].map((header) => ({ ...header, in: 'header', schema: { type: 'string' } }));

/** `task.status_changed` is `taskStatusChanged`. */
const operationOf = (event: EventName) => event.replaceAll(/[._](\w)/g, (_, letter: string) => letter.toUpperCase());

/** The requests that receivers get, one an event, as the document's `webhooks` lists them. */
export function documentedEvents(): Json {
  return Object.fromEntries(eventNames.map((event) => [event, { post: deliveryOf(event) }]));
}

function deliveryOf(event: EventName): Json {
  const { when, data } = events[event];
  const properties = {
    event: { type: 'string', const: event },
    deliveryId: schemaOf(DeliveryId, 'output'),
    timestamp: { ...schemaOf(Timestamp, 'output'), description: 'When this attempt was made.' },
    data: refersTo('task' in data ? 'TaskEventData' : 'ExecutionEventData'),
  };
  return {
    operationId: operationOf(event),
    summary: `${when}: ${event}`,
    description: 'Answer 2xx within ten seconds, before any work of your own. Anything else is tried again.',
    tags: ['webhooks'],
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
      '2XX': { description: 'Delivered.' },
      default: { description: 'Not delivered: tried again 5 minutes, 30 minutes and 2 hours after each failure.' },
    },
  };
}
