import type { ServiceProcess } from './service-process.ts';

/** What the service answers, as far as a soak looks at it. */
type Answer = { data: { id: string }; pagination: { total: number } };

/**
 * Asks the service in peace.
 *
 * @throws Error for anything but a success
 */
export async function ask(service: ServiceProcess, method: string, path: string, body?: unknown): Promise<Answer> {
  const answer = await fetch(`${service.url()}${path}`, {
    method,
    headers: { Authorization: `Bearer ${service.token()}`, 'Content-Type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path} was answered ${answer.status}: ${text}`);
  return JSON.parse(text) as Answer;
}

/** The exact total of a list. */
export async function readTotal(service: ServiceProcess, path: string): Promise<number> {
  const { pagination } = await ask(service, 'GET', `${path}${path.includes('?') ? '&' : '?'}limit=1`);
  return pagination.total;
}
