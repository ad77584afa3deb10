import { sendRequest } from '../../api-over-http.ts';
import type { Bench } from '../bench.ts';
import type { Subject } from '../service.ts';
import { findPrograms } from './programs.ts';

/** A service of other authors that does what a part of this service does. */
export type Peer<Started extends Subject> = {
  name: string;
  /** The programs and packages of npm that it needs. */
  needs: readonly string[];
  /** The command that installs them. */
  install: string;
  /** Starts it on free ports and new data folders, by the paths of what it needs. */
  start: (bench: Bench, paths: Readonly<Record<string, string>>) => Promise<Started>;
};

/** Starts a peer if these folders have all that it needs. Otherwise a line says what is missing and how to install it. */
export async function startPeer<Started extends Subject>(
  bench: Bench,
  { name, needs, install, start }: Peer<Started>,
  folders: readonly string[],
): Promise<Started | undefined> {
  const { paths, missing } = findPrograms(needs, folders);
  if (missing.length === 0) return start(bench, paths);
  bench.say(`${name} is not measured: ${missing.join(', ')} not found. Install: ${install}`);
  return undefined;
}

/** Returns a function that sends a request with JSON and returns the body of the response. It throws for any status but 2xx. */
export function jsonApi(url: string, token?: string) {
  return async <Body>(method: string, path: `/${string}`, body?: unknown, query?: string): Promise<Body> => {
    const answer = await sendRequest(url, { method, path, body, ...(query && { query }), ...(token && { token }) });
    if (answer.status < 200 || answer.status > 299)
      throw new Error(`${method} ${path} is answered ${answer.status}: ${JSON.stringify(answer.body)}`);
    return answer.body as Body;
  };
}
