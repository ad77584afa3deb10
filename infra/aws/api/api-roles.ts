import type { Construct } from 'constructs';
import type { Endpoint } from '../../../lib/contract/endpoint.ts';
import { isOfferedAsTool } from '../../../lib/contract/open/mcp.ts';
import { routes } from '../../../lib/contract/routes.ts';
import { mayAskModels } from '../functions/model-access.ts';
import { constructIdOf, type SharedProps } from '../functions/service-function.ts';
import { FunctionRole } from '../functions/service-role.ts';

/** A right of a function of the API, besides the right to write to its log group. Its name is part of construct ids. */
type Right = 'checks' | 'reads' | 'counts' | 'writes' | 'seals' | 'opens' | 'asksModels';

/** The use of secrets that each right allows. A change of a right's name would replace the role and its log group. */
const secretsUses = { seals: 'encrypts', opens: 'decrypts' } as const;

/**
 * Returns the rights of an endpoint. Open endpoints read no data; one checks the access to the table. Every other endpoint reads tokens and counts requests; GET
 * endpoints write nothing else.
 */
function rightsOf({ scope, offersTools, method, secrets, asksModels, checksTable }: Endpoint): Right[] {
  if (offersTools) return unionOf(routes.flatMap(([, row]) => (isOfferedAsTool(row) ? [rightsOf(row)] : [])));
  if (!scope) return checksTable ? ['checks'] : [];
  return [
    'reads',
    method === 'GET' ? 'counts' : 'writes',
    ...(secrets ? ([secrets === 'encrypts' ? 'seals' : 'opens'] as const) : []),
    ...(asksModels ? (['asksModels'] as const) : []),
  ];
}

/** Returns the rights that are in at least one of the lists. Writing includes counting. */
function unionOf(rights: readonly Right[][]): Right[] {
  const all = new Set(rights.flat());
  if (all.has('writes')) all.delete('counts');
  return [...all];
}

/**
 * The roles of the API's functions: one for each set of rights. Functions share a role and its log group only if they have
 * exactly the same rights.
 */
export class ApiRoles {
  readonly #scope: Construct;
  readonly #shared: SharedProps;
  readonly #roles = new Map<string, FunctionRole>();

  /** @param scope the construct that the roles belong to */
  constructor(scope: Construct, shared: SharedProps) {
    this.#scope = scope;
    this.#shared = shared;
  }

  /** Returns the role for the function of an endpoint. */
  of(row: Endpoint): FunctionRole {
    return this.withRights(rightsOf(row));
  }

  /** Returns the role with exactly these rights. The id of its construct consists of them, such as `ReadsWritesRole`. */
  withRights(rights: readonly Right[]): FunctionRole {
    const name = rights.map(constructIdOf).join('') || 'Open';
    const known = this.#roles.get(name);
    if (known) return known;
    const role = new FunctionRole(this.#scope, name, this.#shared.settings);
    for (const right of rights) this.#grant(right, role);
    this.#roles.set(name, role);
    return role;
  }

  #grant(right: Right, role: FunctionRole): void {
    const { table, secretsKey, settings } = this.#shared;
    if (right === 'checks') table.allowCheck(role);
    else if (right === 'reads') table.allowReads(role);
    else if (right === 'counts') table.allowRequestCounts(role);
    else if (right === 'writes') table.allowWrites(role);
    else if (right === 'asksModels') role.addToPrincipalPolicy(mayAskModels(settings));
    else secretsKey.allow(role, secretsUses[right]);
  }
}
