import { paginateScan } from '@aws-sdk/lib-dynamodb';
import type { Organization } from '../../contract/organization.ts';
import { ascending } from '../../contract/texts/order.ts';
import type { Table } from '../access/client.ts';
import { keys } from '../access/keys.ts';
import type { StoredToken } from './tokens.ts';

/** An organization, derived from its access tokens. Creating the first token creates the organization. */
export type OrganizationSummary = {
  organization: Organization;
  /** The time at which its first token was created; ISO 8601. */
  since: string;
  /** The number of its tokens that are neither revoked nor expired. */
  activeTokens: number;
};

/**
 * Returns the organizations of a table, sorted by name. It scans the whole table, so it is only for operators: no item
 * lists the organizations, but every version of the service writes the tokens.
 *
 * @param now a token that expires at this time or before is not active; Unix time, in ms
 * @param onScan receives the number of items that were scanned so far
 */
export async function listOrganizations(
  { client, name }: Table,
  now: number,
  onScan: (scanned: number) => void = () => {},
): Promise<OrganizationSummary[]> {
  const pages = paginateScan(
    { client },
    {
      TableName: name,
      ConsistentRead: true,
      FilterExpression: 'begins_with(pk, :tokens)',
      ExpressionAttributeValues: { ':tokens': keys.token('').pk },
      ProjectionExpression: 'organization, createdAt, expires, revokedAt',
    },
  );
  const found = new Map<Organization, OrganizationSummary>();
  let scanned = 0;
  for await (const { Items = [], ScannedCount = 0 } of pages) {
    for (const token of Items as StoredToken[]) {
      const { organization, createdAt } = token;
      const known = found.get(organization) ?? { organization, since: createdAt, activeTokens: 0 };
      found.set(organization, {
        organization,
        since: createdAt < known.since ? createdAt : known.since,
        activeTokens: known.activeTokens + (isActive(token, now) ? 1 : 0),
      });
    }
    scanned += ScannedCount;
    onScan(scanned);
  }
  return [...found.values()].sort((one, other) => ascending(one.organization, other.organization));
}

function isActive({ expires, revokedAt }: StoredToken, now: number): boolean {
  return revokedAt === undefined && (expires === undefined || Date.parse(expires) > now);
}
