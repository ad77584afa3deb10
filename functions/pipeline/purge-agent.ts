import { PurgeMessage } from '../../lib/deployment/messages.ts';
import { runPurge } from '../../lib/executions/purges.ts';
import { consumeQueue } from '../../lib/queue/consume.ts';

export const handler = consumeQueue(PurgeMessage, async (message, context) => runPurge(context, message));
