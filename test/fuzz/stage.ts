import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { openService } from '../soak/service-process.ts';
import { type Contents, readContents } from './contents.ts';
import { makeOrganization, type Organization } from './organization.ts';
import type { Receiver } from './receiver.ts';

/** The started service, who fuzzes it, and who must not notice. */
export type Stage = {
  url: string;
  dataFolder: string;
  receiver: Receiver;
  /** The organization whose token is fuzzed with. */
  own: Organization;
  /** The organization of which nothing may be seen and nothing changed. */
  other: Organization;
  /** What every text of the other organization has in it. */
  words: string;
  /** All that the other organization could read of itself, and what it had been told, before. */
  before: Contents;
  heardBefore: number;
  /** The file of what the service tried to reach outside the loopback. */
  fence: string;
};

/** Starts the service on a data folder of its own, fenced in, with two organizations that have some of everything. */
export async function setStage(folder: string, receiver: Receiver): Promise<Stage> {
  const fence = join(folder, 'fence.log');
  const dataFolder = join(folder, 'data');
  mkdirSync(dataFolder);
  const service = await openService({
    dataFolder,
    log: join(folder, 'service.log'),
    environment: {
      ALLOWED_RECEIVERS: receiver.host,
      FUZZ_FENCE: fence,
      NODE_OPTIONS: `--import=${pathToFileURL(join(import.meta.dirname, 'fence.ts'))}`,
    },
  });
  const url = service.url();
  const place = { url, dataFolder, receiverHost: receiver.host };
  // Nobody can guess these: whatever has them comes from the other organization. Only its names are ever sent.
  const name = `other-${randomBytes(8).toString('hex')}`;
  const words = `words-${randomBytes(8).toString('hex')}`;
  const own = await makeOrganization(place, 'own', 'own');
  const other = await makeOrganization(place, name, words);
  const before = await readContents(other.api);
  return { url, dataFolder, receiver, own, other, words, before, heardBefore: heardOf(receiver, words), fence };
}

/** How many posts the webhooks of an organization have got. */
export function heardOf({ posts }: Receiver, words: string): number {
  return posts.get(`/${words}`) ?? 0;
}
