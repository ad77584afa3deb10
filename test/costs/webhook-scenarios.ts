import type { Webhook } from '../../lib/contract/webhooks.ts';
import { startReceiver } from '../webhooks/sender/receiver.ts';
import type { Asked, TestOrganization } from './test-organization.ts';

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const receiver = await startReceiver();

/** Registers a webhook for new tasks, whose receiver responds 204. */
export const register = ({ ask }: TestOrganization, fields: object = { secret }) =>
  ask<Webhook>('registerWebhook', { body: { url: receiver.url, events: ['task.created'], ...fields } });

const registered = async (caller: TestOrganization): Promise<Asked & { params: { id: string } }> => {
  const { id } = await register(caller);
  return { params: { id } };
};

/** For each budget of a webhook's row: creates the items in the table, and returns the measured request. */
export const webhookScenarios = {
  registerWebhook: {
    'with a secret': async () => ({ body: { url: receiver.url, events: ['task.created'], secret } }),
    'without one, for two events': async () => ({
      body: { url: receiver.url, events: ['task.created', 'task.completed'] },
    }),
  },
  listWebhooks: {
    ten: async (caller) => {
      for (let nth = 0; nth < 10; nth++) await register(caller);
      return {};
    },
  },
  getWebhook: { one: registered },
  deleteWebhook: { one: registered },
  testWebhook: { delivered: async (caller) => ({ ...(await registered(caller)), body: { event: 'task.created' } }) },
  listDeliveries: {
    '20 of 25': async (caller) => {
      const asked = await registered(caller);
      for (let nth = 0; nth < 25; nth++) await caller.ask('testWebhook', { ...asked, body: { event: 'task.created' } });
      return asked;
    },
  },
} satisfies Record<string, Record<string, (caller: TestOrganization) => Promise<Asked>>>;
