import { copyFileSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { createTemporaryFolder } from '../../../temporary-files.ts';

const fixtures = join(import.meta.dirname, 'fixtures');

/** The versions that have written a data folder of the fixtures; see `fixtures/README.md`. */
export const formerVersions = ['0.1.0', '0.2.0', 'last-engine'] as const;
type FormerVersion = (typeof formerVersions)[number];

/** A record of the stream, as the engine returns it. */
type StreamRecord = {
  eventName: string;
  dynamodb: { ApproximateCreationDateTime: number; OldImage?: object; NewImage?: object };
};

/** What the engine of a version answered about its data folder, in the JSON of DynamoDB's protocol. */
type Answers = { items: Record<string, { S: string }>[]; changes: StreamRecord[] };

/** Returns all items, and the records after the stored position, as the engine of a version answered them. */
export function answersOf(version: FormerVersion): Answers {
  return JSON.parse(gunzipSync(readFileSync(join(fixtures, version, 'expected.json.gz'))).toString());
}

/** Returns a copy of the data folder that a version has written before it was killed. */
export function createFormerFolder(version: FormerVersion): string {
  const folder = mkdtempSync(join(createTemporaryFolder(), 'data-'));
  for (const name of readdirSync(join(fixtures, version))) {
    const path = join(fixtures, version, name);
    if (name.startsWith('expected')) continue;
    if (name.endsWith('.gz')) writeFileSync(join(folder, name.slice(0, -3)), gunzipSync(readFileSync(path)));
    else copyFileSync(path, join(folder, name));
  }
  return folder;
}
