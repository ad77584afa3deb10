/** Returns a function that calls others, at most `most` of them at the same time. The rest waits, in the order of the calls. */
export function atMost(most: number): <Result>(act: () => Promise<Result>) => Promise<Result> {
  let active = 0;
  const waiting: (() => void)[] = [];
  return async (act) => {
    // Who waits gets the place of a call that ends.
    if (active >= most) await new Promise<void>((start) => waiting.push(start));
    else active++;
    try {
      return await act();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else active--;
    }
  };
}
