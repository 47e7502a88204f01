/**
 * Installs Debian's ffmpeg for the tests of videos, where there is apt and the right to use it; says what to do elsewhere.
 *
 *   node scripts/install-ffmpeg.mjs              fails where there is none in the end
 *   node scripts/install-ffmpeg.mjs --for-tests  says why they are left out, and ends well
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
