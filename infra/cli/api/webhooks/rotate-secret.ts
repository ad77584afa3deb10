import { WebhookId } from '../../../../lib/contract/shapes.ts';
import { readBy } from '../../command.ts';
import { printJson } from '../../json.ts';
import { apiCommand } from '../api-command.ts';
import { connect } from '../connection.ts';
import { newSecret, secretOption } from '../secrets.ts';
import { readDuration } from '../times.ts';
import { exampleWebhookId } from './webhook-id.ts';

/** `crewboard webhooks rotate-secret`: replaces the secret that signs deliveries. */
export const rotateSecret = apiCommand(
  'rotate-secret',
  'Replace the secret that signs the deliveries of a webhook',
  `webhooks rotate-secret ${exampleWebhookId}`,
  `webhooks rotate-secret ${exampleWebhookId} --overlap 1h`,
)
  .description(
    [
      'Replace the secret that signs the deliveries of a webhook; without a secret it gets its first one. Unless you give the',
      'new secret, the command makes one and prints it, this once only.',
    ].join(' '),
  )
  .argument('<id>', 'the id of the webhook', readBy(WebhookId))
  .addOption(secretOption('the new secret (default: a new one, which is printed)'))
  .option(
    '--overlap <duration>',
    'how long deliveries are also signed with the replaced secret, such as 1h; 0 ends it at once (default: 1d)',
    (given) => (given === '0' ? 0 : readDuration(given)),
  )
  .action(async (id, { secret: given, overlap, ...options }, command) => {
    const secret = given || newSecret();
    const body = { secret, overlapSeconds: overlap === undefined ? undefined : overlap / 1_000 };
    const { data } = await connect(options, command).rotateWebhookSecret({ params: { id }, body });
    if (options.json) return printJson({ data: given ? data : { ...data, secret } });
    const end = data.previousSecretEndsAt;
    console.error(
      end
        ? `Deliveries are signed with the new secret, and with the replaced one until ${end}.`
        : 'Deliveries are signed with the new secret.',
    );
    if (!given) console.log(secret);
  });
