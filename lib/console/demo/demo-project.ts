/** The project of all tasks of the demo board. */
export const demoProject = 'proj_demo';
