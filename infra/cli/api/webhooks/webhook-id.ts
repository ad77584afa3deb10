/** The id of a webhook in examples of commands. */
export const exampleWebhookId = 'wh_01K00000000000000000000000';
