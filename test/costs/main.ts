import { writeFileSync } from 'node:fs';
import { costsPage } from './page.ts';

/** `npm run costs`: computes the costs and writes their page. */
writeFileSync('docs/costs.md', costsPage());
