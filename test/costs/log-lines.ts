import { endpoints } from '../../lib/contract/endpoints.ts';

/** A line of the API's own log, with values of the usual length; a test compares its names with the names of the stack. */
export const accessLine = {
  requestId: 'dGhpc0lzQW5JZD0=',
  time: '22/Nov/2026:00:00:00 +0000',
  source: '203.0.113.100',
  route: `${endpoints.updateTask.method} ${endpoints.updateTask.path.replace(':id', '{id}')}`,
  status: '200',
  latencyMs: 42,
  error: '-',
};

/** The bytes of a line of the API's own log. */
export const accessBytes = Buffer.byteLength(`${JSON.stringify(accessLine)}\n`);
