import { describe, expect, it } from 'vitest';
import { type LineOptions, type LogEntry, lineOf } from '../../../../infra/local/terminal/log-lines.ts';
import { ApiError } from '../../../../lib/contract/errors.ts';

const now = new Date(2026, 0, 5, 7, 12, 4).getTime();
const afterMs = (wait: number) => new Date(now + wait).toISOString();
const executionId = 'ex_01M82WJ6STGC2AR7MCZAKMKFZ8';

/** Returns the line of an entry, without colours and of any width unless the options say otherwise. */
const line = (entry: Partial<LogEntry>, options: Partial<LineOptions> = {}) =>
  lineOf({ level: 'info', message: 'message', fields: {}, ...entry }, { now, style: (_, text) => text, ...options });

describe('the line of a request', () => {
  const request = { method: 'POST', path: '/api/kanban-tasks', status: 201, durationMs: 8.3 };

  it.each([
    [{}, '07:12:04   POST /api/kanban-tasks 201 8 ms'],
    [{ method: 'GET', status: 200, durationMs: 0.2 }, '07:12:04    GET /api/kanban-tasks 200 0 ms'],
    [{ method: 'DELETE', status: 204, durationMs: 1234 }, '07:12:04 DELETE /api/kanban-tasks 204 1.2 s'],
    [{ status: 404, code: 'not_found' }, '07:12:04   POST /api/kanban-tasks 404 8 ms not_found'],
  ])('with %j is %j', (fields, text) => {
    expect(line({ message: 'request', fields: { ...request, ...fields } })).toBe(text);
  });

  it('has no characters of a decoded path that could control the terminal', () => {
    const path = '/api/\u001b[2J\n\u202e';
    expect(line({ message: 'request', fields: { ...request, path } })).toBe(
      '07:12:04   POST /api/\uFFFD[2J \uFFFD 201 8 ms',
    );
  });

  it('is at most as wide as the terminal: the middle of a long path is left out', () => {
    const path = `/api/agents/release-writer/executions/${executionId}`;
    const text = line({ message: 'request', fields: { ...request, path } }, { columns: 80 });
    expect(text).toBe('07:12:04   POST /api/agents/release-writer/…_01M82WJ6STGC2AR7MCZAKMKFZ8 201 8 ms');
    expect(text).toHaveLength(80);
  });
});

describe('the line of an attempt', () => {
  const attempt = { event: 'task.created', receiver: 'localhost:8080', httpStatus: 500, durationMs: 12 };
  const error = 'The receiver answered 500.';

  it.each([
    [{ httpStatus: 200 }, '     ✓ task.created → localhost:8080 200, 12 ms'],
    [{ error, nextAttemptAt: afterMs(299_700) }, '     ✗ task.created → localhost:8080 500, retry in 5 min'],
    [{ error, nextAttemptAt: afterMs(2_000) }, '     ✗ task.created → localhost:8080 500, retry in 2 s'],
    [{ error, nextAttemptAt: afterMs(7_200_000) }, '     ✗ task.created → localhost:8080 500, retry in 2 h'],
    [{ error }, '     ✗ task.created → localhost:8080 500, no retry'],
    [
      { httpStatus: 0, error: 'The receiver refused the connection.', nextAttemptAt: afterMs(300_000) },
      '     ✗ task.created → localhost:8080 refused connection, retry in 5 min',
    ],
    [
      { httpStatus: 0, error: 'No answer within 10 s.', nextAttemptAt: afterMs(1_800_000) },
      '     ✗ task.created…calhost:8080 no answer within 10 s, retry in 30 min',
    ],
  ])('with %j is %j', (fields, text) => {
    const shown = line({ fields: { ...attempt, ...fields } }, { columns: 80 });
    expect(shown).toBe(`07:12:04 ${text}`);
    expect(shown?.length).toBeLessThanOrEqual(80);
  });
});

describe('the line of an execution', () => {
  const execution = { executionId, agentName: 'builder', status: 'completed', durationMs: 1_240 };

  it.each([
    [{ selfTest: 'passed', qaReview: 'passed' }, `✓ builder ${executionId} completed 1.2 s, gates passed`],
    [
      { selfTest: 'failed', qaReview: 'skipped' },
      `✓ builder ${executionId} completed 1.2 s, self-test failed, QA skipped`,
    ],
    [{ status: 'failed', error: 'deadline' }, `✗ builder ${executionId} failed: deadline`],
    [{ status: 'failed', error: 'The model failed.' }, `✗ builder ${executionId} failed: The model failed`],
    [{ status: 'throttled' }, `… builder ${executionId} waits: the model is throttled`],
  ])('with %j is %j', (fields, text) => {
    expect(line({ fields: { ...execution, ...fields } })).toBe(`07:12:04      ${text}`);
  });
});

describe('the line of an execution on a narrow terminal', () => {
  const execution = { executionId, status: 'completed', durationMs: 155, selfTest: 'passed', qaReview: 'passed' };

  it('has the whole name of the agent and the ends of the id', () => {
    const agentName = 'release-writer-44b9f845';
    const text = line({ fields: { ...execution, agentName } }, { columns: 80 });
    expect(text).toBe(`07:12:04      ✓ ${agentName} ex_0…KFZ8 completed 155 ms, gates passed`);
    expect(text).toHaveLength(80);
  });

  it('has the whole id if the line wraps in any case', () => {
    const agentName = 'a'.repeat(60);
    expect(line({ fields: { ...execution, agentName } }, { columns: 80 })).toBe(
      `07:12:04      ✓ ${agentName} ${executionId} completed 155 ms, gates passed`,
    );
  });
});

describe('the line of a schedule', () => {
  it.each([
    [{ job: 'deliveries', woken: 1, unfinished: false }, '07:12:04  sweep deliveries: 1 message sent again'],
    [
      { job: 'executions', woken: 50, unfinished: true },
      '07:12:04  sweep executions: 50 messages sent again, and more to send',
    ],
  ])('of %j is %j', (fields, text) => {
    expect(line({ message: 'scheduled', fields })).toBe(text);
  });

  it.each([{ job: 'deliveries', woken: 0, unfinished: false, DeliveriesLate: 0 }, { job: 'heartbeat' }])(
    'does not exist for %j, which did nothing',
    (fields) => {
      expect(line({ message: 'scheduled', fields })).toBeUndefined();
    },
  );
});

it('does not exist for a message that made no attempt and ended no execution', () => {
  expect(line({ fields: { organization: 'local', deliveryId: 'dlv_1', attempt: 2 } })).toBeUndefined();
});

describe('a warning', () => {
  it('is one line, with the error of the warning and no stack', () => {
    const error = Object.assign(new Error('Too many\n  requests.'), { name: 'ThrottlingException' });
    expect(line({ level: 'warn', message: 'model failed', fields: { error } })).toBe(
      '07:12:04   warn model failed: ThrottlingException: Too many requests.',
    );
  });
});

describe('an error', () => {
  it('is one line with the stack below, if it is unexpected', () => {
    const error = new TypeError('x is undefined');
    error.stack = 'TypeError: x is undefined\n    at one (a.ts:1:2)\n    at two (b.ts:3:4)';
    expect(line({ level: 'error', message: 'record failed', fields: { record: 'm-1', error } })).toBe(
      '07:12:04  error record failed: TypeError: x is undefined\n    at one (a.ts:1:2)\n    at two (b.ts:3:4)',
    );
  });

  it('is one line without a stack, if it is the response to a request', () => {
    const fields = { method: 'GET', path: '/api/agents', status: 503, durationMs: 5, code: 'unavailable' };
    const error = new ApiError('unavailable', 'Try again later.');
    expect(line({ level: 'error', message: 'request', fields: { ...fields, error } })).toBe(
      '07:12:04    GET /api/agents 503 5 ms unavailable',
    );
  });
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
    const fields = { method: 'GET', path: `/${'x'.repeat(100)}`, status: 200, durationMs: 1 };
    const coloured = line({ message: 'request', fields }, { style, columns: 80 });
    expect(coloured?.replace(/<[^>]*>/g, '')).toBe(line({ message: 'request', fields }, { columns: 80 }));
  });
});
