import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { DatabaseSync, StatementSync } from 'node:sqlite';

/**
 * Takes over the table of a data folder and kills its process before one of the calls that can change a file. Its arguments
 * are the folder and the number of the call; it prints `done` if there are fewer calls.
 */
const [folder = '', last] = process.argv.slice(2);
let calls = 0;

/** Replaces methods with ones that count their calls. */
function count(object: object, names: string[]): void {
  const methods = object as Record<string, (...values: unknown[]) => unknown>;
  for (const name of names) {
    const method = methods[name];
    methods[name] = function (...values) {
      calls += 1;
      if (calls === Number(last)) process.kill(process.pid, 'SIGKILL');
      return method?.apply(this, values);
    };
  }
}

count(fs, ['fsyncSync', 'openSync', 'renameSync', 'rmSync', 'writeFileSync']);
count(DatabaseSync.prototype, ['close', 'exec']);
count(StatementSync.prototype, ['get']);
syncBuiltinESMExports();

const { openDataFolder } = await import('../../../../infra/local/data-folder.ts');
const { takeOverFormerTable } = await import('../../../../infra/local/upgrade/take-over.ts');
const { plainTables } = await import('./plain-table.ts');
takeOverFormerTable(openDataFolder(folder), 'new.db', plainTables());
console.log('done');
