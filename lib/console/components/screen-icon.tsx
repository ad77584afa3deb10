/** The lines of each icon, on a square of 16 units. */
const lines = {
  overview: 'M2.5 2.5h4.5v5h-4.5zM9 2.5h4.5v3h-4.5zM9 8h4.5v5.5h-4.5zM2.5 10h4.5v3.5h-4.5z',
  board: 'M2.5 2.5h3v11h-3zM6.5 2.5h3v7h-3zM10.5 2.5h3v9h-3z',
  runs: 'M8 1.75a6.25 6.25 0 1 1 0 12.5a6.25 6.25 0 1 1 0-12.5zM6.5 5.5v5l4-2.5z',
  agents: 'M3 6h10v7.5h-10zM8 6v-2.5M8 3.5v-1M6 9v1M10 9v1M1.5 9v2M14.5 9v2',
  webhooks: 'M9.5 2.5h4v4M13.5 2.5l-6 6M11.5 9.5v4h-9v-9h4',
  events: 'M1.5 8h3l2-5 3 10 2-5h3',
  reference: 'M3 2.5h6l4 4v7h-10zM9 2.5v4h4M5.5 9h5M5.5 11.25h5',
  search: 'M7 2.5a4.5 4.5 0 1 1 0 9a4.5 4.5 0 1 1 0-9zM10.5 10.5l3.5 3.5',
} as const;

/** The icon of a screen in the navigation. The name of the screen is beside it. */
export function ScreenIcon({ name }: { name: keyof typeof lines }) {
  return (
    <svg className="icon" aria-hidden="true" viewBox="0 0 16 16">
      <path d={lines[name]} />
    </svg>
  );
}
