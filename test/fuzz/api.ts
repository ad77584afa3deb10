/** What a list or a single read answers. */
type Answer = { status: number; text: string; data: unknown; total: number | undefined };

/** Asks the service as one organization. */
export type Api = (method: string, path: string, body?: unknown) => Promise<Answer>;

/** Asks by HTTP with this token; anything but a success is an error. */
export function apiOf(url: string, token: string): Api {
  return async (method, path, body) => {
    const answer = await fetch(`${url}${path}`, {
      method,
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(60_000),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path} was answered ${answer.status}: ${text}`);
    const { data, pagination } = JSON.parse(text) as { data: unknown; pagination?: { total: number } };
    return { status: answer.status, text, data, total: pagination?.total };
  };
}

/** A thing that lists and creates show, as far as it is looked at here. */
export type Thing = { id: string; name?: string; agentName?: string; status?: string };

/** Every thing of a paged list, and the total that its first page named. */
export async function walk(api: Api, path: string): Promise<{ things: Thing[]; texts: string[]; total: number }> {
  const things: Thing[] = [];
  const texts: string[] = [];
  let total: number | undefined;
  for (;;) {
    const page = await api('GET', `${path}?limit=100&offset=${things.length}`);
    const items = page.data as Thing[];
    total ??= page.total as number;
    things.push(...items);
    texts.push(page.text);
    if (items.length === 0) return { things, texts, total };
  }
}
