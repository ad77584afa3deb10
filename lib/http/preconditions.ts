import { hash } from 'node:crypto';
import type { Precondition } from '../contract/endpoint.ts';
import { ApiError } from '../contract/errors.ts';

/** The number of characters of an ETag, each of six bits: two versions never have the same one by chance. */
const etagLength = 16;

/**
 * Returns the ETag of a version of a resource (RFC 9110, 8.8.3). It is strong: it changes with every visible change of
 * the resource. It depends on the id too, so the ETag of a deleted agent never matches a new agent of the same name.
 */
export function etagOf({ id, version }: Parameters<Precondition>[0]): string {
  const digest = hash('sha256', `${id} ${version}`, 'base64url');
  return `"${digest.slice(0, etagLength)}"`;
}

/**
 * Returns the check of an `If-Match` header (RFC 9110, 13.1.1). A version passes if one of the tags is its ETag (strong
 * comparison), if the header is `*`, or if there is no header. A malformed header matches no version.
 */
export function preconditionOf(ifMatch: string | undefined): Precondition {
  const tags = ifMatch?.split(',').map((tag) => tag.trim());
  return (resource) => {
    if (!tags || ifMatch?.trim() === '*' || tags.includes(etagOf(resource))) return;
    throw new ApiError(
      'precondition_failed',
      `The resource has changed and its ETag is now ${etagOf(resource)}; read it again.`,
    );
  };
}
