import { appOf } from './base.ts';
import { deliveriesApp } from './deliveries.ts';
import { receivers } from './receivers.ts';

/** The app of the function that posts to receivers. */
export const attemptsApp = appOf((base) => ({ ...deliveriesApp(base), ...receivers(base) }));
