/** A resource of a CloudFormation template, as far as bursts depend on it. */
export type TemplateResource = {
  Type: string;
  Properties?: unknown;
  DependsOn?: string | readonly string[];
  DeletionPolicy?: string;
};

/** The resources of a CloudFormation template, by their logical ids. */
export type TemplateResources = Readonly<Record<string, TemplateResource>>;

/**
 * Returns the largest burst of some resources of a template: the highest number of them that CloudFormation can start at
 * once, however long all others take. CloudFormation starts a resource when all resources that it depends on are finished,
 * so a burst is a set of resources of which none depends on another one, also not by others in between. A deletion runs the
 * other way round and has the same bursts.
 *
 * By the theorem of Dilworth the largest such set has as many resources as there are, less the resources that a largest
 * matching pairs with a resource that they depend on.
 *
 * @param counts decides whether a resource belongs to the set; dependencies through all others still count
 */
export function largestBurst(
  resources: TemplateResources,
  counts: (resource: TemplateResource) => boolean = () => true,
): number {
  const before = everythingBefore(resources);
  const counted = Object.keys(resources).filter((id) => counts(resources[id] as TemplateResource));
  const included = new Set(counted);
  /** The resource that each earlier resource is paired with. */
  const pairs = new Map<string, string>();
  const pair = (id: string, tried: Set<string>): boolean => {
    for (const earlier of before.get(id) ?? []) {
      if (!included.has(earlier) || tried.has(earlier)) continue;
      tried.add(earlier);
      const other = pairs.get(earlier);
      if (other !== undefined && !pair(other, tried)) continue;
      pairs.set(earlier, id);
      return true;
    }
    return false;
  };
  for (const id of counted) pair(id, new Set());
  return counted.length - pairs.size;
}

/** Returns the logical ids of the resources that must be finished before each resource starts. */
export function everythingBefore(resources: TemplateResources): Map<string, Set<string>> {
  const known = new Map<string, Set<string>>();
  const of = (id: string): Set<string> => {
    const found = known.get(id);
    if (found) return found;
    const all = new Set<string>();
    known.set(id, all);
    for (const direct of dependenciesOf(resources[id] as TemplateResource, resources)) {
      all.add(direct);
      for (const earlier of of(direct)) all.add(earlier);
    }
    return all;
  };
  for (const id of Object.keys(resources)) of(id);
  return known;
}

/** Returns the resources that a resource names: by `DependsOn`, `Ref`, `Fn::GetAtt` or `Fn::Sub`. */
function dependenciesOf({ DependsOn = [], Properties }: TemplateResource, resources: TemplateResources): Set<string> {
  const names = [DependsOn].flat();
  JSON.stringify(Properties ?? {}, (key, value) => {
    if (key === 'Ref') names.push(value);
    if (key === 'Fn::GetAtt') names.push(Array.isArray(value) ? value[0] : String(value).split('.')[0]);
    if (key === 'Fn::Sub')
      for (const [, name = ''] of String([value].flat()[0]).matchAll(/\$\{([^!.}]+)/g)) names.push(name);
    return value;
  });
  return new Set(names.filter((name) => Object.hasOwn(resources, name)));
}

/** The size of a template: its resources, and its largest bursts. */
export type StackSize = { resources: number } & Record<
  'apiCreated' | 'apiDeleted' | 'apiChanged' | 'created' | 'deleted' | 'changed',
  number
>;

const isApi = ({ Type }: TemplateResource) => Type.startsWith('AWS::ApiGatewayV2::');
const isDeleted = ({ DeletionPolicy = 'Delete' }: TemplateResource) => DeletionPolicy === 'Delete';

/**
 * Returns the size of a template, with the largest bursts of the resources of API Gateway, and of all resources: when the
 * stack is created, when it is deleted, and when the code of all functions is changed.
 */
export function sizeOf(resources: TemplateResources): StackSize {
  const changed = changedWithFunctions(resources);
  const isChanged = (resource: TemplateResource) => changed.has(resource);
  return {
    resources: Object.keys(resources).length,
    apiCreated: largestBurst(resources, isApi),
    apiDeleted: largestBurst(resources, (resource) => isApi(resource) && isDeleted(resource)),
    apiChanged: largestBurst(resources, (resource) => isApi(resource) && isChanged(resource)),
    created: largestBurst(resources),
    deleted: largestBurst(resources, isDeleted),
    changed: largestBurst(resources, isChanged),
  };
}

/**
 * Returns the resources that change when the code of all functions does: the functions, their versions, and what refers to a
 * version. The id of a version is a new one then.
 */
function changedWithFunctions(resources: TemplateResources): Set<TemplateResource> {
  const versions = Object.keys(resources).filter((id) => resources[id]?.Type === 'AWS::Lambda::Version');
  const refersToVersion = (resource: TemplateResource) => {
    const { Properties } = resource;
    const names = dependenciesOf({ Type: resource.Type, Properties }, resources);
    return versions.some((id) => names.has(id));
  };
  return new Set(
    Object.values(resources).filter(
      (resource) =>
        ['AWS::Lambda::Function', 'AWS::Lambda::Version'].includes(resource.Type) || refersToVersion(resource),
    ),
  );
}
