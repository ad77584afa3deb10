import { useKey } from '../../../keys/use-key.ts';

/** Lets the arrow keys go from a focused card to another one: in its column, or the one at the same height in the next column. */
export function useArrowKeys(): void {
  useKey('otherCard', true, ({ key }, target) => cardBeside(target, key)?.focus());
}

/** Returns the link of the card in the direction of an arrow key. Empty columns are skipped. */
export function cardBeside(target: Element, key: string): HTMLElement | null | undefined {
  if (key === 'ArrowUp' || key === 'ArrowDown') {
    const item = target.closest('li');
    const place = Number(item?.getAttribute('aria-posinset')) + (key === 'ArrowUp' ? -1 : 1);
    // Some cards above and below those in view are in the document too. The browser scrolls to what gets the focus.
    return item?.parentElement?.querySelector<HTMLElement>(`:scope > [aria-posinset="${place}"] [data-card] a`);
  }
  const column = target.closest('[data-status]');
  const columns = [...document.querySelectorAll('[data-status]')].filter(
    (one) => one === column || cardsIn(one).length > 0,
  );
  const next = columns[columns.indexOf(column as Element) + (key === 'ArrowLeft' ? -1 : 1)];
  const top = (one: Element) => one.getBoundingClientRect().top;
  const from = top(target.closest('[data-card]') ?? target);
  return cardsIn(next)
    .reduce<HTMLElement | undefined>(
      (nearest, card) => (nearest && Math.abs(top(nearest) - from) <= Math.abs(top(card) - from) ? nearest : card),
      undefined,
    )
    ?.querySelector('a');
}

function cardsIn(column: Element | undefined): HTMLElement[] {
  return [...(column?.querySelectorAll<HTMLElement>('[data-card]') ?? [])];
}
