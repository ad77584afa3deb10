/**
 * Stub of `@aws-sdk/token-providers`: Bedrock's client imports it for bearer tokens, and with it the client of single
 * sign-on. A function signs with the credentials of its role.
 *
 * @throws `Error` where a token is asked for
 */
const noToken = () => async (): Promise<never> => {
  throw new Error('Bearer tokens are not bundled; sign with the credentials of the role.');
};

export { noToken as fromEnvSigningName, noToken as nodeProvider };
