import { expect, it } from 'vitest';
import { filesOfFolder, fullFolders } from '../../../scripts/imports/full-folders.ts';

const filesIn = (folder: string, count: number) => Array.from({ length: count }, (_, at) => `${folder}/${at}.ts`);

it('reports a folder with too many files, and what to do', () => {
  expect(fullFolders([...filesIn('lib/full', filesOfFolder + 1), ...filesIn('lib', 2)])).toEqual([
    'lib/full has 17 files, and a folder has at most 16: move those of one subject to a folder in it.',
  ]);
});

it('does not count the files of subfolders', () => {
  const folders = ['test', 'test/low', 'test/low/lower'].flatMap((folder) => filesIn(folder, filesOfFolder));
  expect(fullFolders(folders)).toEqual([]);
});
