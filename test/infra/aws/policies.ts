/** A statement of a resource policy, after CloudFormation has resolved its intrinsic functions. */
type Statement = {
  Effect: 'Allow' | 'Deny';
  Principal: '*' | { AWS?: string | string[]; Service?: string | string[] };
  Action: string | string[];
  Resource: string | string[];
  Condition?: Record<string, Record<string, string | string[]>>;
};

/** A resource policy. */
export type Policy = { Statement: Statement[] };

/** A request to AWS, with the values that a policy compares. */
export type PolicyRequest = {
  /** The service that calls. */
  service: string;
  action: string;
  resource: string;
  /** The condition keys of the request, such as `aws:SourceAccount`. */
  keys: Record<string, string>;
};

const listOf = (value: string | string[]): string[] => [value].flat();

/** Returns whether a string matches a pattern with the wildcards of IAM. */
function isLike(text: string, pattern: string, ignoreCase = false): boolean {
  const source = pattern
    .replaceAll(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  return new RegExp(`^${source}$`, ignoreCase ? 'i' : '').test(text);
}

/** The supported condition operators. A key that the request lacks fulfils none of them. */
const operators: Record<string, (given: string, wanted: string) => boolean> = {
  Bool: (given, wanted) => given === wanted,
  StringEquals: (given, wanted) => given === wanted,
  StringLike: isLike,
  ArnLike: isLike,
};

function applies(statement: Statement, { service, action, resource, keys }: PolicyRequest): boolean {
  const { Principal, Action, Resource, Condition = {} } = statement;
  const principals = Principal === '*' ? ['*'] : [...listOf(Principal.AWS ?? []), ...listOf(Principal.Service ?? [])];
  return (
    principals.some((one) => one === '*' || one === service) &&
    listOf(Action).some((one) => isLike(action, one, true)) &&
    listOf(Resource).some((one) => isLike(resource, one)) &&
    Object.entries(Condition).every(([operator, wanted]) => {
      const holds = operators[operator];
      if (!holds) throw new Error(`The condition operator ${operator} is not known; add it to ${import.meta.url}.`);
      return Object.entries(wanted).every(([key, values]) => {
        const given = keys[key];
        return given !== undefined && listOf(values).some((value) => holds(given, value));
      });
    })
  );
}

/** Returns whether a resource policy alone allows a request of a service: it has an Allow and no Deny for it. */
export function permits(policy: Policy, request: PolicyRequest): boolean {
  const effects = policy.Statement.filter((one) => applies(one, request)).map(({ Effect }) => Effect);
  return effects.includes('Allow') && !effects.includes('Deny');
}

/**
 * Resolves the intrinsic functions of a part of a template.
 *
 * @param refs the values of `Ref`, for pseudo parameters and for resources by logical id
 * @throws Error for an unsupported intrinsic function or an unknown reference
 */
export function resolved(part: unknown, refs: Record<string, string>): unknown {
  if (Array.isArray(part)) return part.map((one) => resolved(one, refs));
  if (typeof part !== 'object' || part === null) return part;
  const [[name, value] = ['', undefined], ...more] = Object.entries(part);
  if (more.length === 0 && name === 'Ref') {
    const ref = refs[value as string];
    if (ref === undefined) throw new Error(`There is no ${value} to refer to.`);
    return ref;
  }
  if (more.length === 0 && name === 'Fn::Join') {
    const [separator, parts] = value as [string, unknown[]];
    return (resolved(parts, refs) as string[]).join(separator);
  }
  if (name.startsWith('Fn::')) throw new Error(`${name} is not resolved here.`);
  return Object.fromEntries(Object.entries(part).map(([key, one]) => [key, resolved(one, refs)]));
}
