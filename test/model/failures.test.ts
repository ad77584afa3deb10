import { expect, it } from 'vitest';
import { failureOf } from '../../lib/model/failures.ts';

const noAccess = { kind: 'failed', error: 'This deployment has no access to the model.' };
const broken = { kind: 'faulty', error: 'The model could not be reached, or had a fault.' };

/** Returns an error of the client itself. */
const named = (name: string) => Object.assign(new Error('/home/me/.aws/config has no profile "crew"'), { name });

it.each([
  ['missing credentials', named('CredentialsProviderError'), noAccess],
  ['a token that cannot be renewed', named('TokenProviderError'), noAccess],
  ['a connection that takes too long', named('TimeoutError'), broken],
  ['a text', 'oh', broken],
  ['nothing', undefined, broken],
])('the failure of %s', (_, error, failure) => {
  expect(failureOf(error)).toEqual(failure);
});
