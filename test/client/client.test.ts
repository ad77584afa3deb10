import { describe, expect, it } from 'vitest';
import { CrewboardError, createClient, everyItem, openClient } from '../../lib/client/client.ts';

type Sent = { method: string; url: string; headers: Headers; body: string | undefined };
type Scripted = Response | Error;

/**
 * Returns a client of a service that sends these responses in order, the received requests, and the waits of the
 * client.
 */
function clientOf(...script: [{ tries: number }, ...Scripted[]] | Scripted[]) {
  const [first] = script;
  const options = first && 'tries' in first ? first : {};
  const responses = script.filter((one) => one !== options) as Scripted[];
  const sent: Sent[] = [];
  const waits: number[] = [];
  const fetch = async (url: URL, init: RequestInit) => {
    sent.push({
      method: init.method as string,
      url: String(url),
      headers: new Headers(init.headers),
      body: init.body as string | undefined,
    });
    const response = responses[sent.length - 1];
    if (!response) throw new Error('The script has no response for this request.');
    if (response instanceof Error) throw response;
    return response;
  };
  const client = createClient({
    ...options,
    url: 'https://crewboard.example/',
    token: 'crew_token',
    fetch: fetch as typeof globalThis.fetch,
    wait: async (milliseconds) => {
      waits.push(milliseconds);
    },
  });
  return { client, sent, waits };
}

const success = (data: unknown, { status = 200, headers = {}, ...rest } = {} as Record<string, never>) =>
  Response.json({ success: true, data, ...(rest as object) }, { status, headers });
const errorResponse = (status: number, code: string, headers: Record<string, string> = {}) =>
  Response.json(
    { success: false, error: { code, message: `It is ${code}.`, requestId: 'r-1', details: [] } },
    { status, headers },
  );
const page = (items: unknown[], total: number) =>
  Response.json({ success: true, data: items, pagination: { limit: 100, offset: 0, total } });

const networkError = () => new TypeError('fetch failed');

it('is also created under its old name', async () => {
  const fetch = async () => success({ id: 'tk_1' });
  const client = openClient({ url: 'https://crewboard.example', token: 'crew_token', fetch });
  expect((await client.getTask({ params: { id: 'tk_1' } })).data.id).toBe('tk_1');
});

describe('a request', () => {
  it('has the method, URL and body of its operation, and the access token', async () => {
    const { client, sent } = clientOf(success({ id: 'tk_1' }));
    await client.createTask({ body: { title: 'Draw it' } });
    expect(sent).toHaveLength(1);
    expect(sent[0]).toMatchObject({
      method: 'POST',
      url: 'https://crewboard.example/api/kanban-tasks',
      body: '{"title":"Draw it"}',
    });
    expect(sent[0]?.headers.get('Authorization')).toBe('Bearer crew_token');
    expect(sent[0]?.headers.get('Content-Type')).toBe('application/json');
  });

  it('has encoded parameters in the path and in the query', async () => {
    const { client, sent } = clientOf(page([], 0));
    await client.listAgentExecutions({ params: { name: 'a/b ?' }, query: { status: 'failed', limit: 5 } });
    expect(sent[0]?.url).toBe('https://crewboard.example/api/agents/a%2Fb%20%3F/executions?status=failed&limit=5');
  });

  it('has commas between the values of a list in the query', async () => {
    const { client, sent } = clientOf(page([], 0));
    await client.listExecutions({ query: { include: ['results', 'subject'] } });
    expect(new URL(sent[0]?.url ?? '').searchParams.getAll('include')).toEqual(['results,subject']);
  });

  it('needs no arguments if its operation has no required parts', async () => {
    const { client, sent } = clientOf(page([], 0));
    await client.listTasks();
    expect(sent[0]).toMatchObject({ url: 'https://crewboard.example/api/kanban-tasks', body: undefined });
    expect(sent[0]?.headers.has('Content-Type')).toBe(false);
    expect(sent[0]?.headers.has('Idempotency-Key')).toBe(false);
  });

  it('sends ifMatch as If-Match', async () => {
    const { client, sent } = clientOf(success({}, { headers: { ETag: '"3"' } } as never));
    const { etag } = await client.updateTask({ params: { id: 'tk_1' }, body: { status: 'done' }, ifMatch: '"2"' });
    expect(sent[0]?.headers.get('If-Match')).toBe('"2"');
    expect(etag).toBe('"3"');
  });

  it('with POST has an Idempotency-Key: a new one for each call, or that of the caller', async () => {
    const { client, sent } = clientOf(success({}), success({}), success({}));
    await client.createTask({ body: { title: 'One' } });
    await client.createTask({ body: { title: 'Two' } });
    await client.createTask({ body: { title: 'Three' }, idempotencyKey: 'mine' });
    const keys = sent.map(({ headers }) => headers.get('Idempotency-Key'));
    expect(keys[2]).toBe('mine');
    expect(new Set(keys).size).toBe(3);
  });
});

describe('a response', () => {
  it('has data, pagination, ETag, and whether it is a replayed response', async () => {
    const headers = { ETag: '"1"', 'X-Request-Id': 'r-9', 'Idempotency-Replayed': 'true' };
    const { client } = clientOf(
      Response.json({ success: true, data: [], pagination: { limit: 20, offset: 0, total: 0 } }, { headers }),
    );
    expect(await client.listTasks()).toEqual({
      data: [],
      pagination: { limit: 20, offset: 0, total: 0 },
      etag: '"1"',
      replayed: true,
      requestId: 'r-9',
    });
  });

  it('with an error is thrown with its status, code, message and request id', async () => {
    const { client } = clientOf(errorResponse(409, 'name_taken'));
    const error = await client.getTask({ params: { id: 'tk_1' } }).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(CrewboardError);
    expect(error).toMatchObject({ status: 409, code: 'name_taken', message: 'It is name_taken.', requestId: 'r-1' });
    expect(error).toMatchObject({ method: 'GET', url: 'https://crewboard.example/api/kanban-tasks/tk_1' });
  });

  it.each([
    ['an HTML page of a proxy', new Response('<h1>Bad gateway</h1>', { status: 502 })],
    ['an error of a gateway', Response.json({ message: 'Forbidden' }, { status: 403 })],
    ['JSON of another service', Response.json({ hello: 'world' })],
  ])('that is %s is thrown as not_an_answer', async (_, response) => {
    const { client } = clientOf(response);
    await expect(client.listTasks()).rejects.toMatchObject({
      code: 'not_an_answer',
      status: response.status,
      message: expect.stringContaining('GET https://crewboard.example/api/kanban-tasks got a response'),
    });
  });
});

describe('a request that fails', () => {
  it.each(['listTasks', 'listWebhooks'] as const)('is retried if there is no response: %s', async (name) => {
    const { client, sent, waits } = clientOf(networkError(), networkError(), page([], 0));
    await client[name]();
    expect(sent).toHaveLength(3);
    expect(waits[0]).toBeGreaterThanOrEqual(750);
    expect(waits[0]).toBeLessThanOrEqual(1250);
    expect(waits[1]).toBeGreaterThanOrEqual(1500);
  });

  it('is retried with the same Idempotency-Key', async () => {
    const { client, sent } = clientOf(networkError(), success({}));
    await client.executeAgent({ params: { name: 'builder' }, body: { input: 'Build it' } });
    const [first, second] = sent.map(({ headers }) => headers.get('Idempotency-Key'));
    expect(first).toBe(second);
  });

  it.each([
    [429, 'rate_limited'],
    [503, 'unavailable'],
    [409, 'request_in_progress'],
  ])('is retried after the time in Retry-After of a %i %s', async (status, code) => {
    const { client, waits } = clientOf(errorResponse(status, code, { 'Retry-After': '7' }), success({}));
    await client.selfImproveAgent({ params: { name: 'builder' } });
    expect(waits).toEqual([7000]);
  });

  it('is not retried while its delivery is in progress, because it would send the delivery once more afterwards', async () => {
    const { client, sent } = clientOf(errorResponse(409, 'delivery_in_progress', { 'Retry-After': '7' }));
    const request = client.redeliverDelivery({ params: { id: 'wh_1', deliveryId: 'dlv_1' } });
    await expect(request).rejects.toMatchObject({ status: 409, code: 'delivery_in_progress' });
    expect(sent).toHaveLength(1);
  });

  it('is retried after two minutes, and not after a longer time in Retry-After', async () => {
    const limited = (seconds: number) => errorResponse(429, 'rate_limited', { 'Retry-After': String(seconds) });
    const { client, sent, waits } = clientOf(limited(120), success({}), limited(121));
    const run = () => client.executeAgent({ params: { name: 'builder' }, body: { input: 'Build it.' } });
    await run();
    await expect(run()).rejects.toMatchObject({ status: 429, code: 'rate_limited', retryAfter: 121 });
    expect([sent.length, waits]).toEqual([3, [120_000]]);
  });

  it('reads the body of a response before a retry, which frees the connection', async () => {
    const busy = errorResponse(503, 'unavailable');
    const { client } = clientOf(busy, page([], 0));
    await client.listTasks();
    expect(busy.bodyUsed).toBe(true);
  });

  it('is sent once if the caller sets 0 tries', async () => {
    const { client, sent } = clientOf({ tries: 0 }, networkError());
    await expect(client.listTasks()).rejects.toThrow('fetch failed');
    expect(sent).toHaveLength(1);
  });

  it('is sent at most four times, and then throws the last error', async () => {
    const busy = () => errorResponse(503, 'unavailable', { 'Retry-After': '1' });
    const { client, sent } = clientOf(busy(), busy(), busy(), busy());
    await expect(client.listTasks()).rejects.toMatchObject({ code: 'unavailable' });
    expect(sent).toHaveLength(4);
  });

  it.each([400, 404, 409, 422, 500])('is not retried after %i', async (status) => {
    const { client, sent } = clientOf(errorResponse(status, 'not_found'));
    await expect(client.listTasks()).rejects.toMatchObject({ status });
    expect(sent).toHaveLength(1);
  });

  it.each(['updateTask', 'deleteTask'] as const)(
    'is retried only after 429 if it may have been carried out: %s',
    async (name) => {
      const limited = errorResponse(429, 'rate_limited', { 'Retry-After': '3' });
      const busy = errorResponse(503, 'unavailable', { 'Retry-After': '1' });
      const { client, sent, waits } = clientOf(limited, success({}), busy, networkError());
      await client[name]({ params: { id: 'tk_1' } });
      expect([sent.length, waits]).toEqual([2, [3000]]);
      await expect(client[name]({ params: { id: 'tk_1' } })).rejects.toMatchObject({ code: 'unavailable' });
      await expect(client[name]({ params: { id: 'tk_1' } })).rejects.toThrow('fetch failed');
      expect(sent).toHaveLength(4);
    },
  );

  it('is not sent after the caller aborted it', async () => {
    const { client, sent } = clientOf(networkError());
    const signal = AbortSignal.abort(new Error('enough'));
    await expect(client.listTasks({ signal })).rejects.toThrow('enough');
    expect(sent).toHaveLength(0);
  });
});

describe('everyItem', () => {
  it('yields the items of all pages, with 100 items in a page', async () => {
    const items = Array.from({ length: 250 }, (_, at) => ({ id: at }));
    const { client, sent } = clientOf(
      page(items.slice(0, 100), 250),
      page(items.slice(100, 200), 250),
      page(items.slice(200), 250),
    );
    const all = await Array.fromAsync(everyItem(client.listTasks, { query: { status: 'done' } }));
    expect(all).toEqual(items);
    expect(sent.map(({ url }) => new URL(url).search)).toEqual([
      '?status=done&limit=100&offset=0',
      '?status=done&limit=100&offset=100',
      '?status=done&limit=100&offset=200',
    ]);
  });

  it('ends at the end of a list that shrinks', async () => {
    const { client, sent } = clientOf(page([{ id: 1 }], 5), page([], 1));
    expect(await Array.fromAsync(everyItem(client.listTasks))).toEqual([{ id: 1 }]);
    expect(sent).toHaveLength(2);
  });

  it('begins with the item at the given offset, and reads pages of the given size', async () => {
    const { client, sent } = clientOf(page([{ id: 3 }, { id: 4 }], 5), page([{ id: 5 }], 5));
    const items = everyItem(client.listAgentExecutions, { params: { name: 'a' }, query: { limit: 2, offset: 2 } });
    expect(await Array.fromAsync(items)).toEqual([{ id: 3 }, { id: 4 }, { id: 5 }]);
    expect(sent.map(({ url }) => new URL(url).search)).toEqual(['?limit=2&offset=2', '?limit=2&offset=4']);
  });

  it('reads no page that the caller does not need', async () => {
    const { client, sent } = clientOf(page([{ id: 1 }, { id: 2 }], 200));
    for await (const { id } of everyItem(client.listTasks)) if (Number(id) === 2) break;
    expect(sent).toHaveLength(1);
  });
});
