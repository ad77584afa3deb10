import type { Precondition } from '../contract/endpoint.ts';
import { ApiError } from '../contract/errors.ts';

/** The entity tag of a version (RFC 9110, 8.8.3): strong, for it changes with every change that a reader can see. */
export function etagOf(version: number): string {
  return `"${version}"`;
}

/**
 * The check that an `If-Match` header asks for (RFC 9110, 13.1.1): one of its tags must be the version's, compared
 * strongly; `*`, alone, takes any version of what exists; without the header anything goes. What is neither is no
 * version's tag.
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
