import { PurgeMessage } from '../../lib/deployment/messages.ts';
import { carryOutPurge } from '../../lib/executions/purges.ts';
import { consumeQueue } from '../../lib/queue/consume.ts';

export const handler = consumeQueue(PurgeMessage, async (message, context) => carryOutPurge(context, message));
