import { resolve } from 'node:path';
import { Argument } from '@commander-js/extra-typings';
import { Problem } from '../../problem.ts';
import { command } from '../command.ts';
import { operate } from '../operation.ts';

/** `npm run crewboard -- backup`: copies the table of the data folder, also while the service runs. */
export const backup = command(
  'backup',
  'Copy the table of the service on this machine to a file',
  'npm run --silent crewboard -- backup crewboard-backup.db',
)
  .description(
    [
      'Copy the table of the service on this machine to a file, also while the service runs. Secrets of webhooks can be',
      'decrypted only with the file secrets.key of the data folder: keep a copy of it in another place.',
    ].join(' '),
  )
  .addArgument(new Argument('<file>', 'the new file'))
  .action(
    operate(async ({ terminal, folder, backUpTable }, file) => {
      if (!backUpTable)
        throw new Problem(
          'The table is not in the data folder, but in the engine of DYNAMODB_ENDPOINT; back it up there.',
        );
      const path = resolve(folder, file);
      await backUpTable(path);
      terminal.print(`Copied the table to ${path}.`);
    }),
  );
