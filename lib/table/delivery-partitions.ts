/**
 * What belongs to deliveries is spread over so many partitions of the `due` index. They are others than those of versions
 * before the attempt log, which cannot read what is listed here.
 */
export const deliveryPartitions = ['d0', 'd1', 'd2', 'd3'] as const;

/** The partition of the `due` index for a ULID. */
export function deliveryPartition(ulid: string): string {
  return deliveryPartitions[ulid.charCodeAt(ulid.length - 1) % deliveryPartitions.length] as string;
}
