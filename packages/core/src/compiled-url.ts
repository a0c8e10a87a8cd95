/**
 * URL of a module that is run by Node itself (a worker thread, a child process). Beside compiled code it is the module next to the
 * caller; when the caller runs from sources (tests, editors) it is the compiled one in `dist`, since Node 20 runs no TypeScript.
 *
 * @param callerUrl `import.meta.url` of the caller
 * @param relative the module's path as compiled, as `./embed-thread.js`
 */
export function compiledUrl(callerUrl: string, relative: string): URL {
  const url = new URL(relative, callerUrl);
  if (callerUrl.endsWith('.ts')) url.pathname = url.pathname.replace(/\/src\/(?!.*\/src\/)/, '/dist/');
  return url;
}
