/** Checks before minutes of compiling whether uWebSockets.js can be loaded here. Its binaries need certain releases of Node.js and glibc. */
import { join } from 'node:path';
import { run, StepError } from './steps.mjs';

const LOADED = "try { require('uWebSockets.js') } catch (error) { console.log(error.message); process.exitCode = 1 }";

/**
 * Returns a notice if the library has no binary for this machine, where Node.js's own server replaces it, or undefined if it can be loaded. Throws
 * a StepError if it is damaged. `root` has the packages, `sources` the service's files.
 */
export async function checkWebServer(root, sources = root) {
  const { code, output } = await run(process.execPath, ['-e', LOADED], { cwd: root });
  if (code === 0) return undefined;
  const { webServerFault, WEB_SERVER_REPLACED } = await compiled(
    join(sources, 'src', 'platform', 'web-server-fault.ts'),
  );
  const fault = webServerFault(new Error(output.trim()));
  if (fault?.isDamage === false) return `${WEB_SERVER_REPLACED}. ${fault.advice}`;
  const advice = fault?.advice ?? 'Its message is above.';
  throw new StepError(`The web server, uWebSockets.js, cannot be loaded. ${advice}`, output);
}

/** Compiles and imports a module of the service, of which nothing is compiled yet. */
async function compiled(file) {
  const { build } = await import('rolldown');
  const { output } = await build({ input: file, platform: 'node', write: false });
  return import(`data:text/javascript,${encodeURIComponent(output[0].code)}`);
}
