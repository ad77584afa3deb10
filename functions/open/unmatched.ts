import { unmatched } from '../../lib/http/unmatched.ts';

export const handler = unmatched();
