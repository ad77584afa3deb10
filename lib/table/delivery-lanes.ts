/**
 * What belongs to deliveries is spread over so many partitions of the `due` index. They are others than those of versions
 * before the attempt log, which cannot read what is listed here.
 */
export const deliveryLanes = ['d0', 'd1', 'd2', 'd3'] as const;

/** The partition of the `due` index for a ULID. */
export function deliveryLane(ulid: string): string {
  return deliveryLanes[ulid.charCodeAt(ulid.length - 1) % deliveryLanes.length] as string;
}
