import { expect, it } from 'vitest';
import { CrewboardError } from '../../../lib/client/client.ts';
import { outageReason } from '../../../lib/console/live/outage-reason.ts';

const noResponse = (cause: unknown) => new CrewboardError(0, { code: 'no_response', message: 'GET … failed', cause });

it('the reason of an outage is the device, the connection, the time or the response of the service', () => {
  const refused = noResponse(new TypeError('Failed to fetch'));
  expect(outageReason(refused, false)).toBe('This device is offline.');
  expect(outageReason(null, false)).toBe('This device is offline.');
  expect(outageReason(refused, true)).toBe('The service cannot be reached.');
  const late = noResponse(new DOMException('the timeout of 10 seconds has passed', 'TimeoutError'));
  expect(outageReason(late, true)).toBe('The service does not respond in time.');
  const message = 'The service is overloaded; retry later.';
  expect(outageReason(new CrewboardError(503, { code: 'unavailable', message }), true)).toBe(
    `The service responds with status 503: ${message}`,
  );
  const proxy = new CrewboardError(502, { code: 'not_an_answer', message: 'GET … got <html>' });
  expect(outageReason(proxy, true)).toBe('The service responds with status 502.');
});
