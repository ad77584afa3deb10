/**
 * Stands in for `@aws-sdk/credential-provider-node` in the bundles: the credentials of the function's role, which
 * Lambda puts into the environment of each container and which outlive it. The SDK's clients import this one name.
 *
 * @throws `Error` where a variable is not set, when the first request is about to be signed
 */
export const defaultProvider = () => async () => ({
  accessKeyId: variable('AWS_ACCESS_KEY_ID'),
  secretAccessKey: variable('AWS_SECRET_ACCESS_KEY'),
  sessionToken: process.env.AWS_SESSION_TOKEN,
});

function variable(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`The environment variable ${name} is not set.`);
  return value;
}
