/**
 * Gives a test run one temporary folder, in memory if there is room, and removes it at the end, including leftovers of
 * failed tests. `npm test` creates it for each of its stages; otherwise the first project of a run creates it for all.
 * Folders are not nested, since paths of sockets are limited to about a hundred bytes, and each level would take
 * thirty.
 */
import { existsSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openTestFolder } from '../../scripts/lib/test-folder.mjs';

/** Models fetched by benches, which some tests use if they are there. */
const BENCH = 'gannet-bench';
/** Variable with the folder. Its name differs from the service's settings, since the service reports unknown ones. */
const VARIABLE = 'OWN_TEST_FOLDER';

export default function setup(): (() => void) | undefined {
  if (process.env[VARIABLE] !== undefined) return undefined;
  const ofBenches = join(tmpdir(), BENCH);
  const { folder, remove } = openTestFolder('gannet-tests');
  if (existsSync(ofBenches)) symlinkSync(ofBenches, join(folder, BENCH));
  const before = process.env['TMPDIR'];
  process.env['TMPDIR'] = folder;
  process.env[VARIABLE] = folder;
  return () => {
    remove();
    // In watch mode, a changed configuration runs this set-up again in the same process.
    delete process.env[VARIABLE];
    if (before === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = before;
  };
}
