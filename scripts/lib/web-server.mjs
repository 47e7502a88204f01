/** Whether uWebSockets.js can be loaded here, asked before minutes of compiling: its binaries are of certain releases of Node.js and of glibc. */
import { join } from 'node:path';
import { run, StepError } from './steps.mjs';

const LOADED = "try { require('uWebSockets.js') } catch (error) { console.log(error.message); process.exitCode = 1 }";

/**
 * What there is to say of a machine that it has no binary for, on which Node.js's own server takes its place; undefined where it can be loaded. Throws
 * a StepError where it is damaged. `root` has the packages, `sources` the service's own files.
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

/** Nothing of the service is compiled yet. */
async function compiled(file) {
  const { build } = await import('rolldown');
  const { output } = await build({ input: file, platform: 'node', write: false });
  return import(`data:text/javascript,${encodeURIComponent(output[0].code)}`);
}
