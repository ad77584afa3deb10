import { randomBytes } from 'node:crypto';
import { Argument } from '@commander-js/extra-typings';
import { ulidFrom } from '../../../lib/contract/ids.ts';
import { eventNames } from '../../../lib/contract/webhooks/events.ts';
import { sampleOf } from '../../../lib/webhooks/samples.ts';
import { apiGroup } from '../api/api-command.ts';
import { secretOption } from '../api/secrets.ts';
import { jsonOption } from '../command.ts';
import { exitCodes } from '../run-program.ts';
import { forwardToOption, printForwarded, subjectOf } from './listen.ts';

const newUlid = () => ulidFrom(Date.now(), randomBytes(10));

/** `crewboard trigger`: posts a sample event to a receiver on this machine. */
export const trigger = apiGroup(
  'trigger',
  'Send a sample event to a receiver on your machine',
  'trigger task.completed --forward-to http://localhost:8080/hook',
)
  .description(
    [
      'Post a sample event to a receiver on your machine, once, as listen posts events. The service is not called, and its',
      'event log does not get the sample. The exit code is 1 if the attempt fails.',
    ].join(' '),
  )
  .addArgument(new Argument('<event>', 'the event').choices(eventNames))
  .addOption(forwardToOption())
  .addOption(secretOption('the secret that signs the delivery, such as the one that listen prints'))
  .addOption(jsonOption())
  .action(async (event, { forwardTo, secret, json }) => {
    const { forwardEvent } = await import('./forward.ts');
    const { data } = sampleOf(event, newUlid, Date.now());
    const deliveryId = `dlv_${newUlid()}`;
    if (!secret) console.error('The delivery is not signed, because there is no secret.');
    const receiver = { forwardTo, secret };
    const outcome = await forwardEvent(receiver, { deliveryId, event, data });
    const item = subjectOf(data);
    printForwarded(receiver, { deliveryId, event, item, ...outcome }, json === true);
    if (outcome.error !== undefined) process.exitCode = exitCodes.failed;
  });
