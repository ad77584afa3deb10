import { environment } from '../deployment/environment.ts';
import { allowedReceivers } from '../webhooks/receivers.ts';
import { appOf } from './base.ts';

/** Which receivers the operator has opened: beside public ones, for all that registers webhooks or sends to them. */
export const receivers = appOf(({ variables }) => ({
  allowed: allowedReceivers(variables[environment.allowedReceivers] ?? ''),
}));
