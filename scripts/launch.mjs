/**
 * `npm start` and `npm run demo`: set-up, then the program in this same process, so that a signal to npm reaches the service
 * (a shell between the two would keep it).
 */
import { reportFailure, setup } from './setup.mjs';

try {
  await setup({ quiet: true });
  await import('../bin/gannet.js');
} catch (error) {
  reportFailure(error);
  process.exitCode = 1;
}
