const format = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });

/** Returns a time as date and time of day in the zone of the viewer. */
export function exactTime(at: string): string {
  return format.format(new Date(at));
}
