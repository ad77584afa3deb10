import { expect, it } from 'vitest';
import { welcome } from '../../../infra/terminal/welcome.ts';

const token = 'crew_a-token';
const described = {
  url: 'http://127.0.0.1:3000',
  token,
  tokenFile: '/data/token',
  modeProblem: undefined,
  modelDescription: 'Agents use a model',
  modelProblem: undefined,
  upgraded: undefined,
  isRelaxed: false,
};

it('shows the token and the link that signs in on a terminal', () => {
  const text = welcome(described, true);
  expect(text).toContain(`\nYour token is    ${token}\n                 (also in /data/token;`);
  expect(text).toContain(`\nConsole, signed in: http://127.0.0.1:3000/#token=${token}\n`);
  expect(text).not.toContain('Warning');
});

it('shows where the token is, and not the token, elsewhere', () => {
  const text = welcome(described, false);
  expect(text).toContain('\nYour token is in /data/token\n');
  expect(text).toContain('\nConsole:            http://127.0.0.1:3000/ (sign in with the token)\n');
  expect(text).not.toContain(token);
});

it('shows a problem of the model and of the modes in one line each', () => {
  const problems = { modelProblem: 'No model answers.', modeProblem: 'Others can read the token.' };
  expect(welcome({ ...described, ...problems }, true)).toContain(
    '\nAgents use a model.\nWarning: No model answers. Executions fail until that is mended.\nWarning: Others can read the token.\n\n',
  );
});
