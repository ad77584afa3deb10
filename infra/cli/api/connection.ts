import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { type Client, type ClientOptions, createClient } from '../../../lib/client/client.ts';
import { Failure } from '../run-program.ts';

/** The URL of the local service with its default settings. */
export const defaultUrl = 'http://127.0.0.1:3000';

/** The options of a connection, from the command line or the environment. */
export type ConnectionOptions = { url: string; token?: string | undefined };

/** A command that reports a wrong usage, which ends the program. */
export type Reporter = { error: (message: string) => never };

/** Creates the client of a command. A wrong or missing option ends the command. No message contains the token. */
export function connect({ url, token: given }: ConnectionOptions, command: Reporter): Client {
  const isDefault = url.replace(/\/$/, '') === defaultUrl;
  const token = given?.trim() || (isDefault ? readLocalToken() : undefined);
  if (!token) return command.error(missingToken(url, isDefault));
  try {
    return createClient({ url, token, ...failingEarly(url) });
  } catch (error) {
    // The client rejects a malformed URL or token, by a message that does not repeat it.
    return command.error(`error: ${(error as Error).message}`);
  }
}

/** The errors of a connection that another attempt within seconds does not avoid, such as a port on which nothing listens. */
const unreachable = ['ECONNREFUSED', 'ENOTFOUND', 'EHOSTUNREACH', 'ENETUNREACH'];

/**
 * Returns the options of a client that does not wait for another attempt if the service is unreachable, because a person
 * waits for the command.
 */
function failingEarly(url: string): Pick<ClientOptions, 'fetch' | 'wait'> {
  let failure: Failure | undefined;
  return {
    fetch: async (target, init) => {
      try {
        return await fetch(target, init);
      } catch (error) {
        const { code = '', message = '' } = ((error as Error).cause ?? {}) as Partial<NodeJS.ErrnoException>;
        if (!unreachable.includes(code)) throw error;
        failure = new Failure(`Crewboard cannot be reached at ${url} (${message || code}). ${startHint}`);
        throw failure;
      }
    },
    wait: async (milliseconds, signal) => {
      if (failure) throw failure;
      await setTimeout(milliseconds, undefined, { signal });
    },
  };
}

/** What to do if the service does not respond. */
export const startHint = 'Check the URL; npm start in the repository starts the local service.';

/** Returns the token that the local service has written to its data folder; `undefined` if there is none. */
function readLocalToken(): string | undefined {
  try {
    return readFileSync(localTokenFile(), 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new Failure(`The access token of the local service cannot be read: ${(error as Error).message}`);
  }
}

function localTokenFile(): string {
  return join(process.env.CREWBOARD_DATA || '.crewboard', 'token');
}

function missingToken(url: string, isDefault: boolean): string {
  return [
    `error: there is no access token for ${url}; set CREWBOARD_TOKEN or --token.`,
    ...(isDefault
      ? [
          `The local service writes its token to ${localTokenFile()}; run the command in its folder, or set CREWBOARD_DATA.`,
        ]
      : []),
    'Operators create a token in the repository of Crewboard: npm run --silent token -- create --org NAME.',
  ].join('\n');
}
