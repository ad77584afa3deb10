import { purgesApp } from '../../lib/apps/purges.ts';
import { PurgeMessage } from '../../lib/deployment/messages.ts';
import { consumeQueue } from '../../lib/queue/consume.ts';

export const handler = consumeQueue(PurgeMessage, async (message, { purges }) => purges.carryOut(message), purgesApp);
