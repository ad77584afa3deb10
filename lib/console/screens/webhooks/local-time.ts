/** Returns a time as the value of a `datetime-local` input, in the zone of the viewer. */
export function toLocalInput(at: string | undefined): string {
  const time = at === undefined ? Number.NaN : Date.parse(at);
  if (Number.isNaN(time)) return '';
  const offsetMs = new Date(time).getTimezoneOffset() * 60_000;
  return new Date(time - offsetMs).toISOString().slice(0, 16);
}

/** Returns the time that a `datetime-local` input has, or `undefined` if it is empty. */
export function fromLocalInput(value: string): string | undefined {
  return value === '' ? undefined : new Date(value).toISOString();
}
