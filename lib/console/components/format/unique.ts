/** Leaves out the items that are on two pages of a list, because others were added between the requests. */
export function unique<Item extends { id: string }>(items: readonly Item[]): Item[] {
  return [...new Map(items.map((item) => [item.id, item])).values()];
}
