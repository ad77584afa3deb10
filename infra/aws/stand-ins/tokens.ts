/**
 * Stands in for `@aws-sdk/token-providers` in the bundles: the bearer tokens that Bedrock's client takes where it has
 * no credentials to sign with. It carries the client of single sign-on, and a function has a role.
 *
 * @throws `Error`, when a token is asked for
 */
const none = () => async (): Promise<never> => {
  throw new Error('A function has no bearer token; it signs with the credentials of its role.');
};

export { none as fromEnvSigningName, none as nodeProvider };
