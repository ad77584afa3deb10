import { checkFunctions } from '../../lib/workers/check-functions.ts';

export const handler = checkFunctions();
