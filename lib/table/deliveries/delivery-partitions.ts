/**
 * The partitions of the `due` index that list retries and sampled events. Versions before the attempt log have other
 * partitions, because they cannot read these items.
 */
export const deliveryPartitions = ['d0', 'd1', 'd2', 'd3'] as const;

/** Returns the partition of the `due` index for a ULID. */
export function deliveryPartition(ulid: string): string {
  return deliveryPartitions[ulid.charCodeAt(ulid.length - 1) % deliveryPartitions.length] as string;
}
