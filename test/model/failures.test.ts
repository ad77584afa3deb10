import { expect, it } from 'vitest';
import { failureOf } from '../../lib/model/failures.ts';

/** An error of the client's own, before or instead of an answer. */
const named = (name: string) => Object.assign(new Error('/home/me/.aws/config has no profile "crew"'), { name });

it.each(['CredentialsProviderError', 'TokenProviderError'])('takes %s for no access to the model', (name) => {
  expect(failureOf(named(name))).toEqual({ kind: 'failed', error: 'This deployment has no access to the model.' });
});

it.each([
  ['a connection that takes too long', named('TimeoutError')],
  ['a name that does not resolve', Object.assign(new Error('getaddrinfo ENOTFOUND a.test'), { code: 'ENOTFOUND' })],
  ['what is no error', 'oh'],
  ['nothing', undefined],
])('takes %s for a fault that may pass', (_, error) => {
  expect(failureOf(error)).toEqual({
    kind: 'faulty',
    error: 'The model could not be reached, or had a fault.',
  });
});
