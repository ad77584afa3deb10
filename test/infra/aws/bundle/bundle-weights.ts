import type { Metafile } from 'esbuild';

/** Bytes of a bundle by where they come from: a package, or a folder of the house. */
export type Weights = Map<string, number>;

/** What fills each bundle, by the source of its function, heaviest first. */
export function weightsOf({ outputs }: Metafile): Map<string, Weights> {
  const weights = new Map<string, Weights>();
  for (const { entryPoint, inputs } of Object.values(outputs)) {
    if (!entryPoint) continue;
    const by: Weights = new Map();
    for (const [path, { bytesInOutput }] of Object.entries(inputs)) {
      const origin = originOf(path);
      by.set(origin, (by.get(origin) ?? 0) + bytesInOutput);
    }
    weights.set(entryPoint, new Map([...by].sort(([, a], [, b]) => b - a)));
  }
  return weights;
}

/** The innermost package that a file is of, or its first two folders. */
function originOf(path: string): string {
  const [, inPackage] = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path) ?? [];
  return inPackage ?? path.split('/').slice(0, 2).join('/');
}
