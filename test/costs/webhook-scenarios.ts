import type { Webhook } from '../../lib/contract/webhooks.ts';
import { startReceiver } from '../webhooks/receiver.ts';
import type { Asked, Company } from './company.ts';

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const receiver = await startReceiver();

/** Registers a webhook for new tasks at a receiver that takes everything. */
export const register = ({ ask }: Company, fields: object = { secret }) =>
  ask<Webhook>('registerWebhook', { body: { url: receiver.url, events: ['task.created'], ...fields } });

const registered = async (company: Company): Promise<Asked & { params: { id: string } }> => {
  const { id } = await register(company);
  return { params: { id } };
};

/** What is in the table, and what is then asked of it, for each budget of a webhook's row. */
export const webhookScenarios = {
  registerWebhook: {
    'with a secret': async () => ({ body: { url: receiver.url, events: ['task.created'], secret } }),
    'without one, for two events': async () => ({
      body: { url: receiver.url, events: ['task.created', 'task.completed'] },
    }),
  },
  listWebhooks: {
    ten: async (company) => {
      for (let nth = 0; nth < 10; nth++) await register(company);
      return {};
    },
  },
  getWebhook: { one: registered },
  deleteWebhook: { one: registered },
  testWebhook: { delivered: async (company) => ({ ...(await registered(company)), body: { event: 'task.created' } }) },
  listDeliveries: {
    '20 of 25': async (company) => {
      const asked = await registered(company);
      for (let nth = 0; nth < 25; nth++)
        await company.ask('testWebhook', { ...asked, body: { event: 'task.created' } });
      return asked;
    },
  },
} satisfies Record<string, Record<string, (company: Company) => Promise<Asked>>>;
