/**
 * The partitions of the `due` index that list retries and sampled events. Versions before the attempt log have other
 * partitions, because they cannot read these items.
 */
export const deliveryPartitions = ['d0', 'd1', 'd2', 'd3'] as const;

/**
 * The partitions that list parked attempts after their pause. Earlier versions do not read them. The table has the parked attempts
 * of each webhook in as many parts, with the same names.
 */
export const parkedPartitions = ['p0', 'p1', 'p2', 'p3'] as const;

/** Returns the partition of the `due` index for a ULID. */
export function deliveryPartition(ulid: string): string {
  return partitionOf(deliveryPartitions, ulid);
}

/** Returns the partition of the `due` index for the parked attempt of a delivery, and its part. */
export function parkedPartition(ulid: string): string {
  return partitionOf(parkedPartitions, ulid);
}

function partitionOf(partitions: readonly string[], ulid: string): string {
  return partitions[ulid.charCodeAt(ulid.length - 1) % partitions.length] as string;
}
