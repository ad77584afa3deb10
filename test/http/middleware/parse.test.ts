import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { handler as createTask } from '../../../functions/kanban-tasks/create-task.ts';
import { contextOf } from '../../../infra/local/functions.ts';
import type { ApiEvent } from '../../../lib/http/api-event.ts';
import { dataOf } from '../../api.ts';
import { createTaskCallers } from '../../functions/kanban-tasks/task-caller.ts';
import { type Answer, eventOf } from '../../service.ts';

const { newTaskCaller } = await createTaskCallers();
const board = await newTaskCaller();
const json = 'application/json';
const limit = 256 * 1024;

/** Sends a create with a binary body, as API Gateway passes it on. Without a type, there is no Content-Type. */
async function sendBytes(bytes: Uint8Array | string, contentType?: string, contentEncoding?: string): Promise<Answer> {
  const event: ApiEvent = eventOf({ method: 'POST', path: '/api/kanban-tasks', token: board.token });
  event.body = Buffer.from(bytes as string).toString('base64');
  event.isBase64Encoded = true;
  if (contentType !== undefined) event.headers['content-type'] = contentType;
  if (contentEncoding !== undefined) event.headers['content-encoding'] = contentEncoding;
  const { statusCode = 0, headers = {}, body = '' } = await createTask(event, contextOf('createTask', 29));
  return { status: statusCode, headers: headers as Record<string, string>, body: JSON.parse(body) };
}

describe('a body leads to 400 invalid_json', () => {
  it.each([
    ['is cut short', '{"title":"t"'],
    ['is white space', ' \n '],
    ['has single quotes', "{'title':'t'}"],
    ['has a raw line break in a text', '{"title":"a\nb"}'],
    ['has 100,000 unclosed arrays', '['.repeat(100_000)],
    ['has two byte order marks', '\uFEFF\uFEFF{"title":"t"}'],
  ])('that %s', async (_, body) => {
    const error = await board.refuses(() => board.createTask({ body }), 400, 'invalid_json');
    expect(error).not.toHaveProperty('details');
  });

  it.each([
    ['an invalid start byte', [...Buffer.from('{"title":"'), 0xff, ...Buffer.from('"}')]],
    ['an overlong slash', [...Buffer.from('{"title":"'), 0xc0, 0xaf, ...Buffer.from('"}')]],
    ['an encoded surrogate', [...Buffer.from('{"title":"'), 0xed, 0xa0, 0x80, ...Buffer.from('"}')]],
    ['UTF-16', [...Buffer.from('{"title":"t"}', 'utf16le')]],
    ['gzip', [0x1f, 0x8b, 0x08, 0x00, 0x00]],
  ])('that is not UTF-8: %s', async (_, bytes) => {
    await board.refuses(() => sendBytes(Uint8Array.from(bytes), json), 400, 'invalid_json');
  });
});

describe('a body leads to 415 unsupported_media_type', () => {
  it('without a Content-Type, and the message has the header to send', async () => {
    const error = await board.refuses(() => sendBytes('{"title":"t"}'), 415, 'unsupported_media_type');
    expect(error.message).toContain('Content-Type: application/json');
  });

  it.each([
    ...['', 'text/plain', 'application/jsonp', 'application/json, text/plain', 'application/+json'],
    ...['application/a b+json', '*/*', '__proto__'],
  ])('with Content-Type %j', async (type) => {
    await board.refuses(() => sendBytes('{"title":"t"}', type), 415, 'unsupported_media_type');
  });
});

describe('a compressed body leads to 415 unsupported_media_type', () => {
  it.each(['gzip', 'GZIP', 'br', 'deflate, gzip', 'zstd', 'identity, gzip'])(
    'with Content-Encoding: %s',
    async (coding) => {
      const send = () => sendBytes(gzipSync('{"title":"t"}'), json, coding);
      const { message } = await board.refuses(send, 415, 'unsupported_media_type');
      expect(message).toContain(`compressed with ${coding}; send it uncompressed`);
    },
  );

  it.each(['identity', ''])('but not with Content-Encoding: %j', async (coding) => {
    expect((await sendBytes('{"title":"t"}', json, coding)).status).toBe(201);
  });
});

describe('a body is accepted', () => {
  it.each([
    ...['application/json', 'Application/JSON', 'application/json; charset=utf-8', 'application/json;charset=UTF-8'],
    ...[' application/json ', 'application/merge-patch+json', 'application/vnd.acme.task+json; version=1'],
  ])('with Content-Type %j', async (type) => {
    expect((await sendBytes('{"title":"t"}', type)).status).toBe(201);
  });

  it('in base64, as API Gateway passes on binary bodies', async () => {
    const answer = await sendBytes('{"title":"Grüße 👋"}', json);
    expect(dataOf(answer).title).toBe('Grüße 👋');
  });

  it('after one byte order mark, which RFC 8259 allows parsers to ignore', async () => {
    expect((await board.createTask({ body: '\uFEFF{"title":"t"}' })).status).toBe(201);
  });

  it('with a repeated field, of which the last one counts', async () => {
    expect(dataOf(await board.createTask({ body: '{"title":"a","title":"b"}' })).title).toBe('b');
  });

  it('of 262,144 bytes', async () => {
    const body = '{"title":"t"}'.padEnd(limit);
    expect((await board.createTask({ body })).status).toBe(201);
    expect((await sendBytes(body, json)).status).toBe(201);
  });
});

describe('a body leads to 413 payload_too_large', () => {
  it('of 262,145 bytes', async () => {
    const body = '{"title":"t"}'.padEnd(limit + 1);
    await board.refuses(() => board.createTask({ body }), 413, 'payload_too_large');
    await board.refuses(() => sendBytes(body, json), 413, 'payload_too_large');
  });

  it('counted in bytes, not in characters', async () => {
    await board.refuses(() => board.createTask({ body: `"${'ä'.repeat(140_000)}"` }), 413, 'payload_too_large');
  });
});

describe('a hostile body leads to 400 validation_failed', () => {
  const deep = (open: string, close: string) => open.repeat(20_000) + close.repeat(20_000);

  it.each([
    ['__proto__ beside the title', '{"title":"t","__proto__":{"status":"done"}}', ['__proto__']],
    ['__proto__ with the title in it', '{"__proto__":{"title":"t"}}', ['__proto__', 'title']],
    ['a title that is an object with a toString', '{"title":{"toString":null}}', ['title']],
    ['a title with __proto__', '{"title":{"__proto__":{"length":3}}}', ['title']],
    ['a dependsOn that only looks like an array', '{"title":"t","dependsOn":{"length":1,"0":"x"}}', ['dependsOn']],
    ['a title out of range', '{"title":1e999}', ['title']],
    ['a lone high surrogate in the title', '{"title":"a\\ud800"}', ['title']],
    ['a lone surrogate in the description', '{"title":"t","description":"\\ud83d"}', ['description']],
    ['a lone surrogate in an agent', '{"title":"t","assignedAgent":"\\ud83d"}', ['assignedAgent']],
    ['a lone surrogate in a project', '{"title":"t","projectId":"proj_\\ud83d"}', ['projectId']],
    ['a lone surrogate in an id', '{"title":"t","dependsOn":["tk_\\ud83d"]}', ['dependsOn.0']],
    ['a lone surrogate as a field', '{"title":"t","\\ud83d":1}', ['\ud83d']],
    ['20,000 arrays in each other', deep('[', ']'), ['']],
    ['20,000 arrays as the title', `{"title":${deep('[', ']')}}`, ['title']],
    ['20,000 arrays as an id', `{"title":"t","dependsOn":${deep('[', ']')}}`, ['dependsOn.0']],
    ['20,000 objects as an unknown field', `{"title":"t","a":${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}}`, ['a']],
  ])('for %s', async (_, body, paths) => {
    const error = await board.refuses(() => board.createTask({ body }), 400, 'validation_failed');
    expect(error.details?.map(({ path }) => path).sort()).toEqual(paths);
    expect(({} as { status?: string }).status).toBeUndefined();
  });

  it.each([
    ['100,000 invalid ids', { title: 't', dependsOn: Array(100_000).fill(1) }],
    ['15,000 unknown fields', Object.fromEntries(Array.from({ length: 15_000 }, (_, at) => [`field-${at}`, 0]))],
  ])('for %s, with 20 details', async (_, body) => {
    const error = await board.refuses(() => board.createTask({ body }), 400, 'validation_failed');
    expect(error.details).toHaveLength(20);
  });

  it('for an unknown field with a name of 125,000 quotes, in a response within the limit of Lambda', async () => {
    const send = () => board.createTask({ body: `{"title":"t","${'\\"'.repeat(125_000)}":1}` });
    const error = await board.refuses(send, 400, 'validation_failed');
    expect(error.details).toHaveLength(1);
    expect(JSON.stringify(error).length).toBeLessThan(6_000_000);
  });
});
