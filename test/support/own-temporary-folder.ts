/**
 * A run of the tests has one folder for all that is temporary, in memory where there is room, and takes it away in the end: what a test that
 * failed or forgot has left is gone with it. `npm test` has made it for each of its stages; otherwise the first project of a run makes it for
 * all, since the path of a socket may be no longer than some hundred bytes, and each folder in a folder would take thirty of them.
 */
import { existsSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openTestFolder } from '../../scripts/lib/test-folder.mjs';

/** Where benches keep the models that they fetched; some tests take them where they are there. */
const BENCH = 'gannet-bench';
/** Names the folder. Not called as settings of the service are: it speaks of such variables that it does not know. */
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
    // Who watches has the tests set up again in this process when their configuration has changed.
    delete process.env[VARIABLE];
    if (before === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = before;
  };
}
