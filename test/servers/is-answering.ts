/** Returns whether a server answers at a URL, with any status. */
export const isAnswering = (url: string): Promise<boolean> =>
  fetch(url).then(
    () => true,
    () => false,
  );
