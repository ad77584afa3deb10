import type { Precondition } from '../contract/endpoint.ts';
import { ApiError } from '../contract/errors.ts';

/**
 * Returns the ETag of a version (RFC 9110, 8.8.3). It is strong: it changes with every visible change of the resource.
 */
export function etagOf(version: number): string {
  return `"${version}"`;
}

/**
 * Returns the check of an `If-Match` header (RFC 9110, 13.1.1). A version passes if one of the tags is its ETag (strong
 * comparison), if the header is `*`, or if there is no header. A malformed header matches no version.
 */
export function preconditionOf(ifMatch: string | undefined): Precondition {
  const tags = ifMatch?.split(',').map((tag) => tag.trim());
  return (version) => {
    if (!tags || ifMatch?.trim() === '*' || tags.includes(etagOf(version))) return;
    throw new ApiError(
      'precondition_failed',
      `The resource has changed and its ETag is now ${etagOf(version)}; read it again.`,
    );
  };
}
