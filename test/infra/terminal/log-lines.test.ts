import { describe, expect, it } from 'vitest';
import { type LineOptions, type LogEntry, logLine } from '../../../infra/terminal/log-lines.ts';
import { ApiError } from '../../../lib/contract/errors.ts';

const now = new Date(2026, 0, 5, 7, 12, 4).getTime();
const afterMs = (wait: number) => new Date(now + wait).toISOString();
const executionId = 'ex_01M82WJ6STGC2AR7MCZAKMKFZ8';

const line = (entry: Partial<LogEntry>, options: Partial<LineOptions> = {}) =>
  logLine({ level: 'info', message: 'message', fields: {}, ...entry }, { now, style: (_, text) => text, ...options });

const request = { method: 'POST', path: '/api/kanban-tasks', status: 201, durationMs: 8.3 };
const longPath = `/api/agents/release-writer/executions/${executionId}`;

it.each<[object, string, number?]>([
  [{}, '  POST /api/kanban-tasks 201 8 ms'],
  [{ method: 'GET', status: 200, durationMs: 0.2 }, '   GET /api/kanban-tasks 200 0 ms'],
  [{ method: 'DELETE', status: 204, durationMs: 1234 }, 'DELETE /api/kanban-tasks 204 1.2 s'],
  [{ status: 404, code: 'not_found' }, '  POST /api/kanban-tasks 404 8 ms not_found'],
  // No characters of a decoded path control the terminal.
  [{ path: '/api/\u001b[2J\n\u202e' }, '  POST /api/\uFFFD[2J \uFFFD 201 8 ms'],
  // The line is as wide as the terminal.
  [{ path: longPath }, '  POST /api/agents/release-writer/…_01M82WJ6STGC2AR7MCZAKMKFZ8 201 8 ms', 80],
])('the line of a request with %j is %j', (fields, text, columns) => {
  const shown = line({ message: 'request', fields: { ...request, ...fields } }, { ...(columns && { columns }) });
  expect(shown).toBe(`07:12:04 ${text}`);
  if (columns) expect(shown).toHaveLength(columns);
});

const error = 'The receiver answered 500.';
const refused = 'The receiver refused the connection.';

it.each<[number, string | undefined, number | undefined, string]>([
  [200, undefined, undefined, '✓ task.created → localhost:8080 200, 12 ms'],
  [500, error, 299_700, '✗ task.created → localhost:8080 500, retry in 5 min'],
  [500, error, 2_000, '✗ task.created → localhost:8080 500, retry in 2 s'],
  [500, error, 7_200_000, '✗ task.created → localhost:8080 500, retry in 2 h'],
  [500, error, undefined, '✗ task.created → localhost:8080 500, no retry'],
  [0, refused, 300_000, '✗ task.created → localhost:8080 refused connection, retry in 5 min'],
  [0, 'No answer within 10 s.', 1_800_000, '✗ task.created…calhost:8080 no answer within 10 s, retry in 30 min'],
])(
  'the line of an attempt with the status %i, the error %j and a retry after %i ms is %j',
  (httpStatus, error, wait, text) => {
    const attempt = { event: 'task.created', receiver: 'localhost:8080', httpStatus, durationMs: 12 };
    const failure = { ...(error && { error }), ...(wait && { nextAttemptAt: afterMs(wait) }) };
    const shown = line({ fields: { ...attempt, ...failure } }, { columns: 80 });
    expect(shown).toBe(`07:12:04      ${text}`);
    expect(shown?.length).toBeLessThanOrEqual(80);
  },
);

const passed = { selfTest: 'passed', qaReview: 'passed' };
const narrow = { columns: 80 };

it.each<[object, string, Partial<LineOptions>?]>([
  [passed, `✓ builder ${executionId} completed 1.2 s, gates passed`],
  [
    { selfTest: 'failed', qaReview: 'skipped' },
    `✓ builder ${executionId} completed 1.2 s, self-test failed, QA skipped`,
  ],
  [{ status: 'failed', error: 'deadline' }, `✗ builder ${executionId} failed: deadline`],
  [{ status: 'failed', error: 'The model failed.' }, `✗ builder ${executionId} failed: The model failed`],
  [{ status: 'throttled' }, `… builder ${executionId} waits: the model is throttled`],
  // The whole name of the agent and the ends of the id; the whole id if the line wraps in any case.
  [
    { ...passed, agentName: 'release-writer-44b9f845', durationMs: 155 },
    '✓ release-writer-44b9f845 ex_0…KFZ8 completed 155 ms, gates passed',
    narrow,
  ],
  [
    { ...passed, agentName: 'a'.repeat(60) },
    `✓ ${'a'.repeat(60)} ${executionId} completed 1.2 s, gates passed`,
    narrow,
  ],
])('the line of an execution with %j is %j', (fields, text, options) => {
  const execution = { executionId, agentName: 'builder', status: 'completed', durationMs: 1_240 };
  expect(line({ fields: { ...execution, ...fields } }, options)).toBe(`07:12:04      ${text}`);
});

it.each([
  [{ job: 'deliveries', woken: 1, unfinished: false }, '07:12:04  sweep deliveries: 1 message sent again'],
  [{ job: 'recoveries', woken: 600, unfinished: false }, '07:12:04  sweep recoveries: 600 messages sent'],
  [
    { job: 'executions', woken: 50, unfinished: true },
    '07:12:04  sweep executions: 50 messages sent again, and more to send',
  ],
  // Nothing was done.
  [{ job: 'deliveries', woken: 0, unfinished: false, DeliveriesLate: 0 }, undefined],
  [{ job: 'heartbeat' }, undefined],
])('the line of a schedule with %j is %j', (fields, text) => {
  expect(line({ message: 'scheduled', fields })).toBe(text);
});

it('does not exist for a message that made no attempt and ended no execution', () => {
  expect(line({ fields: { organization: 'local', deliveryId: 'dlv_1', attempt: 2 } })).toBeUndefined();
});

const stack = 'TypeError: x is undefined\n    at one (a.ts:1:2)\n    at two (b.ts:3:4)';

it.each<[string, Partial<LogEntry>, Error, string]>([
  [
    'with the error and no stack if it is a warning',
    { level: 'warn', message: 'model failed' },
    Object.assign(new Error('Too many\n  requests.'), { name: 'ThrottlingException' }),
    '   warn model failed: ThrottlingException: Too many requests.',
  ],
  [
    'with the stack below if it is an unexpected error',
    { level: 'error', message: 'record failed', fields: { record: 'm-1' } },
    Object.assign(new TypeError('x is undefined'), { stack }),
    `  error record failed: ${stack}`,
  ],
  [
    'without a stack if it is the response to a request',
    { level: 'error', message: 'request', fields: { ...request, status: 503, code: 'unavailable' } },
    new ApiError('unavailable', 'Try again later.'),
    '   POST /api/kanban-tasks 503 8 ms unavailable',
  ],
])('a problem is one line, %s', (_, entry, error, text) => {
  expect(line({ ...entry, fields: { ...entry.fields, error } })).toBe(`07:12:04${text}`);
});

describe('colours', () => {
  const style: LineOptions['style'] = (format, text) => `<${format}>${text}</>`;

  it.each([
    [201, 'green'],
    [404, 'yellow'],
    [500, 'red'],
  ])('show that %i is %s', (status, colour) => {
    const fields = { method: 'GET', path: '/health', status, durationMs: 1 };
    expect(line({ message: 'request', fields }, { style })).toBe(
      `<dim>07:12:04</> <${colour}>   GET</> /health ${status} 1 ms`,
    );
  });

  it('do not count for the width of a line', () => {
    const fields = { ...request, path: `/${'x'.repeat(100)}` };
    const coloured = line({ message: 'request', fields }, { style, columns: 80 });
    expect(coloured?.replace(/<[^>]*>/g, '')).toBe(line({ message: 'request', fields }, { columns: 80 }));
  });
});
