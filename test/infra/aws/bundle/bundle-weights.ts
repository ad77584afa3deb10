import type { Metafile } from 'esbuild';

/** The bytes of a bundle by their origin: a package, or a folder of the repository. */
export type Weights = Map<string, number>;

/** Returns the bytes of each bundle by origin, largest first, by the source of its function. */
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

/** Returns the innermost package of a file, or its first two folders. */
function originOf(path: string): string {
  const [, inPackage] = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path) ?? [];
  return inPackage ?? path.split('/').slice(0, 2).join('/');
}
