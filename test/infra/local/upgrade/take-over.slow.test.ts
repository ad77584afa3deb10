import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { closeDataFolder, openDataFolder } from '../../../../infra/local/data-folder.ts';
import { takeOverFormerTable } from '../../../../infra/local/upgrade/take-over.ts';
import { startProgram } from '../../../processes/service-process.ts';
import { answersOf, createFormerFolder } from './former-folders.ts';
import { plainTables, readPlainTable } from './plain-table.ts';

it('takes everything over at the next start, wherever the process is killed', async () => {
  const { items, changes } = answersOf('0.1.0');
  const program = join(import.meta.dirname, 'killed-take-over.ts');
  const signals: (NodeJS.Signals | null)[] = [];
  while (signals.at(-1) !== null) {
    const folder = createFormerFolder('0.1.0');
    const { ended } = startProgram([program, folder, String(signals.length + 1)], {});
    const { signal, stdout, stderr } = await ended;
    signals.push(signal);
    expect([stdout, stderr]).toEqual([signal ? '' : 'done\n', '']);
    expect(['table.db', 'table.db.before-upgrade'].filter((name) => existsSync(join(folder, name)))).toHaveLength(1);

    const data = openDataFolder(folder);
    takeOverFormerTable(data, 'new.db', plainTables());
    closeDataFolder(data);
    const table = readPlainTable(join(folder, 'new.db'));
    expect([table.items.length, table.changes.length]).toEqual([items.length, changes.length]);
    const files = readdirSync(folder).filter((name) => /\.db/.test(name));
    expect(files).toEqual(['new.db', 'table.db.before-upgrade']);
  }
  // At least the deletions of old files, the transaction, the merged log, both renamings and their flushes.
  expect(signals.length).toBeGreaterThan(20);
});
