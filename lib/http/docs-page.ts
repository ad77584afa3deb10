import { createHash } from 'node:crypto';
import type { Content } from '../contract/endpoint.ts';
import { docsScript, openapi } from '../contract/open.ts';

/**
 * How Scalar shows the document (github.com/scalar/scalar, documentation/configuration.md). What would tell others of
 * a reader, or offers services of others, is off; a token that is entered is kept in the page alone.
 */
const configuration = {
  documentDownloadType: 'none',
  authentication: { preferredSecurityScheme: 'bearer' },
  persistAuth: false,
  telemetry: false,
  withDefaultFonts: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  showDeveloperTools: 'never',
  // At phone width it would lie on the address that is tried; the page's own menu lists the same.
  customCss: '@media (max-width: 767px) { .scalar-client .scalar-sidebar-toggle { display: none } }',
};

/**
 * Shows the document. Scalar sends the first value of an enumeration, or an example, with each request that is tried:
 * a list would be filtered by what nobody chose, and the second POST refused for its Idempotency-Key. What a query or
 * the headers may leave out is left out until it is ticked. The document as it is, without such marks, is linked.
 */
const start = `
fetch('${openapi.path}').then((answer) => answer.json()).then((document) => {
  const operations = Object.values(document.paths).flatMap(Object.values);
  const parameters = [...Object.values(document.components.parameters), ...operations.flatMap((one) => one.parameters ?? [])];
  for (const parameter of parameters.filter((one) => one.in && one.in !== 'path' && !one.required)) {
    const { default: usual, enum: [first] = [], examples: [example] = [] } = parameter.schema;
    parameter.examples = { unset: { value: usual ?? first ?? example ?? '', 'x-disabled': true } };
  }
  document.externalDocs = { url: '${openapi.path}', description: 'This as an OpenAPI document' };
  Scalar.createApiReference('#reference', { ...${JSON.stringify(configuration)}, content: document });
});
`;

/**
 * Runs the two scripts of the page and no other, and lets it send to this service alone. Styles are inline because the
 * renderer writes its own; it has no others.
 */
const policy = [
  "default-src 'none'",
  `script-src 'self' 'sha256-${createHash('sha256').update(start).digest('base64')}'`,
  "style-src 'unsafe-inline'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The page on which the OpenAPI document is read, searched and tried. */
export const docsPageContent: Content = {
  headers: {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': policy,
    'Referrer-Policy': 'no-referrer',
  },
  body: `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Crewboard API</title>
<link rel="icon" href="data:,">
</head>
<body>
<noscript>This page needs JavaScript. What it shows is in <a href="${openapi.path}">${openapi.path}</a>.</noscript>
<div id="reference"></div>
<script src="${docsScript.path}"></script>
<script>${start}</script>
</body>
</html>
`,
};
