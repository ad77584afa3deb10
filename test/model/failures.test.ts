import { expect, it } from 'vitest';
import { failureOf } from '../../lib/model/failures.ts';

/** Returns an error of the client itself. */
const named = (name: string) => Object.assign(new Error('/home/me/.aws/config has no profile "crew"'), { name });

it.each(['CredentialsProviderError', 'TokenProviderError'])('%s means no access to the model', (name) => {
  expect(failureOf(named(name))).toEqual({ kind: 'failed', error: 'This deployment has no access to the model.' });
});

it.each([
  ['a connection that takes too long', named('TimeoutError')],
  ['a name that does not resolve', Object.assign(new Error('getaddrinfo ENOTFOUND a.test'), { code: 'ENOTFOUND' })],
  ['a text', 'oh'],
  ['nothing', undefined],
])('%s is a temporary fault', (_, error) => {
  expect(failureOf(error)).toEqual({
    kind: 'faulty',
    error: 'The model could not be reached, or had a fault.',
  });
});
