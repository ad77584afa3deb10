import { checkFunctions } from '../../lib/start-checks/check-functions.ts';

export const handler = checkFunctions();
