import { describe, expect, it } from 'vitest';
import { eventNames } from '../../lib/contract/events.ts';
import { sampleOf } from '../../lib/webhooks/samples.ts';
import { fieldNames } from '../field-names.ts';
import { at, document, type Json, textOf } from './published.ts';

const eventOf = (name: string) => at('webhooks', name, 'post');
const contentOf = (name: string) => eventOf(name).requestBody?.content?.['application/json'] as Json;

describe('the events in the document', () => {
  it('are the six, in the order of the contract', () => {
    expect(Object.keys(document.webhooks as Json)).toEqual(eventNames);
  });

  it.each(eventNames)('%s is a POST of event, deliveryId, timestamp and data, signed or not', (name) => {
    const { parameters, requestBody, security } = eventOf(name);
    const { schema } = contentOf(name);
    expect(schema?.required).toEqual(['event', 'deliveryId', 'timestamp', 'data']);
    expect(schema?.properties?.event).toEqual({ type: 'string', const: name });
    expect(textOf(requestBody?.required)).toBe(true);
    expect(security).toEqual([]);
    expect(Object.values(parameters as Json).map((header) => [header.name, header.required])).toEqual([
      ['X-Service-Event', true],
      ['X-Service-Delivery', true],
      ['X-Service-Timestamp', true],
      ['X-Service-Signature', false],
      ['webhook-id', false],
      ['webhook-timestamp', false],
      ['webhook-signature', false],
    ]);
  });

  it.each(eventNames)('%s has an example with the fields of a real delivery', (name) => {
    const { event, data } = contentOf(name).example as Json;
    expect(event).toBe(name);
    expect(fieldNames(data).sort()).toEqual(
      fieldNames(sampleOf(name, () => '01K9Z3T6V0QW8E5R7T9Y1AB2CD', 0).data).sort(),
    );
  });

  it('describe a 2xx response, and any other response', () => {
    for (const name of eventNames)
      expect(Object.keys(eventOf(name).responses as Json).sort()).toEqual(['2XX', 'default']);
  });

  it('have operation ids that no endpoint has', () => {
    const ids = eventNames.map((name) => textOf(eventOf(name).operationId));
    const operations = Object.values(document.paths as Json).flatMap((path) => Object.values(path));
    const rows = operations.map(({ operationId }) => textOf(operationId));
    expect(new Set([...ids, ...rows]).size).toBe(ids.length + rows.length);
  });
});
