/** The public names of the client: what the package `crewboard` exports. */
export {
  type Answer,
  type Client,
  type ClientOptions,
  CrewboardError,
  createClient,
  type ExecutionWait,
  everyItem,
  type Operation,
  type RequestTo,
  waitForExecution,
} from './client.ts';
export type * from './operations.ts';
export { type Delivery, DeliveryRefused, type Reason, type Unverified, verifyWebhook } from './verify-webhook.ts';
