import type { Content } from '../../contract/endpoint.ts';
import { ApiError } from '../../contract/errors.ts';
import { readConsole } from './console-files.ts';

/** The console runs only its own scripts, style sheet and font, sends requests only to this service, and is in no frame. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self'",
  "font-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const types: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  woff2: 'font/woff2',
};

/** Returns the page of the console. Its content changes with each version, so browsers do not keep it. */
export async function consolePageContent(): Promise<Content> {
  const { script, style, icon, imports } = await readConsole();
  const preloads = imports.map((file) => `<link rel="modulepreload" href="/assets/${file}">\n`).join('');
  return {
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': policy,
      'Referrer-Policy': 'no-referrer',
      'Cross-Origin-Opener-Policy': 'same-origin',
    },
    body: `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Crewboard</title>
<link rel="icon" href="/assets/${icon}">
<link rel="stylesheet" href="/assets/${style}">
${preloads}<script type="module" src="/assets/${script}"></script>
</head>
<body>
<noscript>The console needs JavaScript. The API is described in <a href="/openapi.json">/openapi.json</a>.</noscript>
<div id="root"></div>
</body>
</html>
`,
  };
}

/**
 * Returns a file of the console.
 *
 * @throws `ApiError` `not_found` for a file that this version does not have, for example a file of an older page
 */
export async function consoleAssetContent(file: string): Promise<Content> {
  const { files } = await readConsole();
  const gzipped = Object.hasOwn(files, file) ? files[file] : undefined;
  if (gzipped === undefined)
    throw new ApiError('not_found', 'This version of the console has no such file; reload the page.');
  return {
    headers: {
      'Content-Type': types[file.split('.').at(-1) as string] as string,
      'Cache-Control': 'public, max-age=31536000, immutable',
    },
    body: Buffer.from(gzipped, 'base64'),
  };
}
