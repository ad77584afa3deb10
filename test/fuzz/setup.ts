import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { startServiceProcess } from '../soak/service-process.ts';
import { type Contents, readContents } from './contents.ts';
import { createOrganization, type Organization } from './organization.ts';
import type { Receiver } from './receiver.ts';

export type Setup = {
  url: string;
  dataFolder: string;
  receiver: Receiver;
  /** The organization whose token sends the requests. */
  own: Organization;
  /** The organization of which nothing may be read or changed. */
  other: Organization;
  /** A text that all texts of the other organization contain, and no other text. */
  words: string;
  /** All that the other organization could read, and the number of its deliveries, before. */
  before: Contents;
  deliveriesBefore: number;
  /** Kills the service. */
  kill: () => Promise<void>;
  /** The file that names each host outside the loopback that the service tried to reach. */
  fence: string;
};

/** Starts the service on a new data folder, without a way out of the loopback, with two organizations. */
export async function createSetup(folder: string, receiver: Receiver): Promise<Setup> {
  const fence = join(folder, 'fence.log');
  const dataFolder = join(folder, 'data');
  mkdirSync(dataFolder);
  const service = await startServiceProcess({
    dataFolder,
    log: join(folder, 'service.log'),
    environment: {
      ALLOWED_RECEIVERS: receiver.host,
      FUZZ_FENCE: fence,
      NODE_OPTIONS: `--import=${pathToFileURL(join(import.meta.dirname, 'fence.ts'))}`,
    },
  });
  const { url } = service.address();
  const place = { url, dataFolder, receiverHost: receiver.host };
  // Random, so that no request contains them by chance. Only the names of the other organization are ever sent.
  const name = `other-${randomBytes(8).toString('hex')}`;
  const words = `words-${randomBytes(8).toString('hex')}`;
  const own = await createOrganization(place, 'own', 'own');
  const other = await createOrganization(place, name, words);
  const before = await readContents(other.api);
  const deliveriesBefore = deliveriesTo(receiver, words);
  return { url, dataFolder, receiver, own, other, words, before, deliveriesBefore, kill: service.kill, fence };
}

/** Returns the number of requests to the webhooks of an organization. */
export function deliveriesTo({ posts }: Receiver, words: string): number {
  return posts.get(`/${words}`) ?? 0;
}
