/**
 * `npm start` and `npm run demo`: set-up, then the program in this same process, so that a signal to npm reaches the service
 * (a shell between the two would keep it: `exec` in package.json).
 */
import { existsSync } from 'node:fs';

/** Whoever asks what there is need not wait for minutes of a set-up first. */
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
