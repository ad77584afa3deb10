/** The id of a webhook in examples of commands. */
export const exampleId = 'wh_01K00000000000000000000000';
