import { type Command, Help, Option } from '@commander-js/extra-typings';
import { command, jsonOption, wholeNumber } from '../command.ts';
import { defaultUrl, useLocalService } from './connection.ts';

/** How users start the program: by npx from its package, which is a bundle, or by an npm script of the repository. */
export const invocation = import.meta.url.endsWith('.ts') ? 'npm run --silent crewboard --' : 'npx crewboard';

/** The options that all API commands have. They are the last ones in the help. */
const commonOptions = ['--url', '--token', '--json', '--help'];

/**
 * Creates a command that calls the API.
 *
 * @param examples command lines after `crewboard`
 */
export function apiCommand(name: string, summary: string, ...examples: string[]) {
  return apiGroup(name, summary, ...examples)
    .addOption(
      new Option('--url <url>', 'the URL of the service')
        .env('CREWBOARD_URL')
        .default(defaultUrl, `the local service, ${defaultUrl}`),
    )
    .addOption(new Option('--token <token>', 'an access token; the variable is safer').env('CREWBOARD_TOKEN'))
    .addOption(jsonOption())
    .hook('preAction', (_, command) => useLocalService(command))
    .configureHelp({
      visibleOptions: (shown) => {
        const options = new Help().visibleOptions(shown);
        const isCommon = ({ long }: { long?: string | undefined }) => commonOptions.includes(long ?? '');
        return [...options.filter((option) => !isCommon(option)), ...options.filter(isCommon)];
      },
    });
}

/** Creates a command that has API commands as its subcommands. */
export function apiGroup(name: string, summary: string, ...examples: string[]): Command {
  return command(name, summary, ...examples.map((example) => `${invocation} ${example}`));
}

/** Returns the option `--limit` of commands that list pages. */
export function limitOption() {
  return new Option('--limit <number>', 'the highest number of items, 1 to 100 (default: 20)')
    .argParser(wholeNumber(longestPage))
    .conflicts('all');
}

/** Returns the option `--all` of commands that list pages. */
export function allOption() {
  return new Option('--all', 'all items, in as many requests as this takes');
}

/** Returns the option `--wait` of commands that start an execution. */
export function waitOption() {
  return new Option('--wait', 'wait for the end, and print the output; the exit code is 1 if the execution fails');
}

/** The longest page of the API. */
const longestPage = 100;
