/** A link that signs in, as `npm start` prints it: its access token, or why there is none to use. */
export type TokenLink = { token: string } | { problem: string };

/** The form of an access token. The service decides whether it is valid. */
const tokenPattern = /^crew_[0-9A-Za-z]{1,100}$/;

const problem = 'The link has no access token. Copy the whole link again.';

/** Returns the link in the fragment of a URL, or `undefined` if the fragment is something else, such as a screen. */
export function tokenLinkIn(fragment: string): TokenLink | undefined {
  const found = /^#token(?:=(.*))?$/s.exec(fragment);
  if (!found) return undefined;
  const token = decoded(found[1] ?? '');
  return token !== undefined && tokenPattern.test(token) ? { token } : { problem };
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    // A percent sign that begins no character.
    return undefined;
  }
}
