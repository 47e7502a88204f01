/**
 * Runs the set-up and then the program in this process, for `npm start` and `npm run demo`, so that a signal to npm reaches the
 * service. A shell in between would swallow it, hence `exec` in package.json.
 */
import { existsSync } from 'node:fs';

/** True if the arguments ask for help, which must not wait minutes for a set-up. */
const asksForHelp = process.argv.slice(3).some((argument) => ['--help', '-h'].includes(argument));
const isSetUp = existsSync(new URL('../dist/bundle/src/cli/index.cjs', import.meta.url));

if (!asksForHelp) await launch();
else if (isSetUp) await import('../bin/gannet.js');
else
  process.stdout.write(
    `Gannet is not set up yet: \`npm run setup\` does that, in some minutes the first time. Then \`npx gannet ${process.argv[2]} --help\` says what there is.\n`,
  );

async function launch() {
  const { reportFailure, setup } = await import('./setup.mjs');
  try {
    await setup({ quiet: true });
    await import('../bin/gannet.js');
  } catch (error) {
    reportFailure(error);
    process.exitCode = 1;
  }
}
