/** Where a browser keeps texts: `sessionStorage` until the tab is closed, `localStorage` for all tabs and later visits. */
type Area = 'sessionStorage' | 'localStorage';

/** Returns a stored text. It is `undefined` if there is none, or if the browser does not let pages store anything. */
export function readStored(area: Area, key: string): string | undefined {
  try {
    return window[area].getItem(key) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Stores a text if the browser lets pages do that; `undefined` deletes it. */
export function store(area: Area, key: string, text: string | undefined): void {
  try {
    if (text === undefined) window[area].removeItem(key);
    else window[area].setItem(key, text);
  } catch {
    // The page works without it until it is closed or reloaded.
  }
}
