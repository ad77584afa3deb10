/**
 * Returns a provider of the credentials of the function's role, which Lambda puts into the environment.
 *
 * Stub of `@aws-sdk/credential-provider-node`: a function needs none of its other sources (files, single sign-on, EC2).
 *
 * @throws `Error` from the provider where a variable is not set
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
