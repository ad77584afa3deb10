import { endpoints } from '../../lib/contract/endpoints.ts';

const requestId = '8b6f2c1e-3d4a-4f5b-9c6d-7e8f9a0b1c2d';
const bytesOf = (line: object) => Buffer.byteLength(`${JSON.stringify(line)}\n`);

/** A line of the API's own log, with values of the usual length; a test holds its names to those of the stack. */
export const accessLine = {
  requestId: 'dGhpc0lzQW5JZD0=',
  time: '22/Nov/2026:00:00:00 +0000',
  source: '203.0.113.100',
  route: `${endpoints.updateTask.method} ${endpoints.updateTask.path.replace(':id', '{id}')}`,
  status: '200',
  latencyMs: '42',
  error: '-',
};

/** What Lambda writes by itself of each call, as its documentation shows the lines of the JSON format. */
const platformLines = [
  { time: '2026-11-22T00:00:00.000Z', type: 'platform.start', record: { requestId, version: '$LATEST' } },
  {
    time: '2026-11-22T00:00:00.000Z',
    type: 'platform.report',
    record: {
      requestId,
      metrics: { durationMs: 42.123, billedDurationMs: 43, memorySizeMB: 512, maxMemoryUsedMB: 128 },
      status: 'success',
    },
  },
];

/** The bytes of a line of the API's own log. */
export const accessBytes = bytesOf(accessLine);

/** The bytes that Lambda writes of a call. */
export const platformBytes = platformLines.reduce((sum, line) => sum + bytesOf(line), 0);
