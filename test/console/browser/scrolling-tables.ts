/** The script that returns the number of tables that are wider than the place they have. */
export const scrollingTables = `
  [...document.querySelectorAll('main .table')].filter((table) => table.scrollWidth > table.clientWidth).length
`;
