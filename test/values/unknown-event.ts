/** The name of no event, now or later: names of events have a dot. */
export const unknownEvent = 'unknown';
