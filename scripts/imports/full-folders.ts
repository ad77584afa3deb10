import { dirname } from 'node:path';

/** The most files of a folder: with more, it has more than one subject. */
export const filesOfFolder = 16;

/**
 * Returns an error message for each folder with too many files. Its subfolders count as folders of their own.
 *
 * @param paths the paths of all files from the top of the project
 */
export function fullFolders(paths: readonly string[]): string[] {
  return [...Map.groupBy(paths, (path) => dirname(path))]
    .filter(([, files]) => files.length > filesOfFolder)
    .map(
      ([folder, { length }]) =>
        `${folder} has ${length} files, and a folder has at most ${filesOfFolder}: move those of one subject to a folder in it.`,
    );
}
