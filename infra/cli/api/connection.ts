import { setTimeout } from 'node:timers/promises';
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { type Client, type ClientOptions, createClient } from '../../../lib/client/client.ts';
import { CommandFailure } from '../run-program.ts';
import { findLocalUrl, localTokenFile, readLocalToken } from './local-service.ts';

/** The URL of the local service with its default settings. */
export const defaultUrl = 'http://127.0.0.1:3000';

/** The options of a connection, from the command line or the environment. */
export type ConnectionOptions = { url: string; token?: string | undefined };

/** A command that reports a wrong usage, which ends the program. */
export type Reporter = { error: (message: string) => never };

/** A command with the options of a connection. */
type Connecting = Pick<CommandUnknownOpts, 'opts' | 'getOptionValueSource' | 'setOptionValue'>;

/**
 * Sets the options of a command that the user has left out: the URL of the local service that runs on the data folder, on
 * whatever port, and the token of that service if the URL is its.
 */
export async function useLocalService(command: Connecting): Promise<void> {
  const { url, token } = command.opts() as ConnectionOptions;
  const isChosen = command.getOptionValueSource('url') !== 'default';
  if (isChosen && token) return;
  const localUrl = await findLocalUrl();
  if (localUrl === undefined || (isChosen && url.replace(/\/$/, '') !== localUrl)) return;
  command.setOptionValue('url', localUrl);
  const localToken = token || readLocalToken();
  if (localToken) command.setOptionValue('token', localToken);
}

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
  let failure: CommandFailure | undefined;
  return {
    fetch: async (target, init) => {
      try {
        return await fetch(target, init);
      } catch (error) {
        const { code = '', message = '' } = ((error as Error).cause ?? {}) as Partial<NodeJS.ErrnoException>;
        if (!unreachable.includes(code)) throw error;
        failure = new CommandFailure(`Crewboard cannot be reached at ${url} (${message || code}). ${startHint}`);
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

function missingToken(url: string, isDefault: boolean): string {
  return [
    `error: there is no access token for ${url}; set CREWBOARD_TOKEN or --token.`,
    ...(isDefault
      ? [
          `The local service writes its token to ${localTokenFile()}; run the command in its folder, or set CREWBOARD_DATA.`,
        ]
      : []),
    'Operators create a token in the repository of Crewboard: npm run --silent crewboard -- token create --org NAME.',
  ].join('\n');
}
