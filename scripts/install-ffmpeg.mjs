/**
 * Installs Debian's ffmpeg for the tests of videos if there is apt and the right to use it. Otherwise says what to do.
 *
 *   node scripts/install-ffmpeg.mjs              fails if it is not there in the end
 *   node scripts/install-ffmpeg.mjs --for-tests  says why tests are skipped, and succeeds
 */
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { installForTests } from './lib/debian-package.mjs';

await installForTests({
  name: 'ffmpeg',
  debianPackage: 'ffmpeg',
  isThere: () => (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, 'ffmpeg'))),
  otherwise: 'install it so that it is found in PATH',
});
