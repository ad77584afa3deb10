import type { AttemptDetail } from '../../../../lib/client/operations.ts';
import { WebhookId } from '../../../../lib/contract/shapes.ts';
import { DeliveryId } from '../../../../lib/contract/webhooks/webhooks.ts';
import { durationText } from '../../../texts.ts';
import { readBy } from '../../command.ts';
import { printJson } from '../../json.ts';
import { apiCommand } from '../api-command.ts';
import { connect } from '../connection.ts';
import { printDetail } from '../detail.ts';
import { exampleWebhookId } from './webhook-id.ts';

const exampleDelivery = 'dlv_01K00000000000000000000000';

/** `crewboard webhooks delivery`: a delivery with its attempts. */
export const delivery = apiCommand(
  'delivery',
  'Show what was sent and received in each attempt of a delivery',
  `webhooks delivery ${exampleWebhookId} ${exampleDelivery}`,
  `webhooks delivery ${exampleWebhookId} ${exampleDelivery} --json`,
)
  .argument('<id>', 'the id of the webhook', readBy(WebhookId))
  .argument('<delivery>', 'the id of the delivery, as webhooks deliveries lists it', readBy(DeliveryId))
  .action(async (id, deliveryId, options, command) => {
    const { data } = await connect(options, command).getDelivery({ params: { id, deliveryId } });
    const rows = [
      ['delivery', data.deliveryId],
      ['event', data.test ? `${data.event} (test)` : data.event],
      ['event id', data.eventId],
      ['state', data.state],
      ['next attempt', data.nextAttemptAt],
      ['body', data.body ?? undefined],
    ] as const;
    printDetail(data, rows, options);
    if (options.json) return;
    for (const attempt of data.attempts) {
      console.log('');
      printDetail(attempt, rowsOf(attempt), options);
    }
  });

/** `crewboard webhooks redeliver`: sends a delivery again. */
export const redeliver = apiCommand(
  'redeliver',
  'Send a delivery again',
  `webhooks redeliver ${exampleWebhookId} ${exampleDelivery}`,
)
  .description(
    'Send a delivery of the last 90 days again, whether it succeeded or failed. The attempt begins within two seconds.',
  )
  .argument('<id>', 'the id of the webhook', readBy(WebhookId))
  .argument('<delivery>', 'the id of the delivery, as webhooks deliveries lists it', readBy(DeliveryId))
  .action(async (id, deliveryId, options, command) => {
    const { data } = await connect(options, command).redeliverDelivery({ params: { id, deliveryId } });
    if (options.json) return printJson({ data });
    console.log(`${deliveryId} is ${data.state}: attempt ${data.attempt} is due.`);
  });

/** What the hint of an attempt means. */
const hints: Record<NonNullable<AttemptDetail['hint']>, string> = {
  unsigned:
    'The attempt was not signed: the webhook has no secret. Set the one that the receiver expects, with webhooks rotate-secret.',
};

/** Returns the labels and values of an attempt. */
function rowsOf(attempt: AttemptDetail) {
  const { httpStatus, durationMs, phases = {}, requestHeaders, responseHeaders, responseBody, truncated } = attempt;
  const names = { dns: 'dns', connect: 'connect', tls: 'tls', firstByte: 'first byte' };
  const parts = Object.entries(phases).map(
    ([phase, ms]) => `${names[phase as keyof typeof names]} ${durationText(ms)}`,
  );
  return [
    ['attempt', String(attempt.attempt)],
    ['delivered', attempt.deliveredAt],
    ['status', httpStatus === 0 ? 'no response' : String(httpStatus)],
    ['error', attempt.error],
    ['hint', attempt.hint && hints[attempt.hint]],
    ['duration', durationText(durationMs) + (parts.length > 0 ? `: ${parts.join(', ')}` : '')],
    ['address', attempt.address],
    ['request', headerLines(requestHeaders)],
    ['response', headerLines(responseHeaders)],
    ['content', responseBody ? responseBody + (truncated ? '…' : '') : undefined],
  ] as const;
}

/** Returns headers with a line for each; `undefined` without any. */
function headerLines(headers: Record<string, string> | null): string | undefined {
  const lines = Object.entries(headers ?? {}).map(([name, value]) => `${name}: ${value}`);
  return lines.length > 0 ? lines.join('\n') : undefined;
}
