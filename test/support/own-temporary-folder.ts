/**
 * A run of the tests has one folder for all that is temporary, in memory where there is room, and takes it away in the end: what a test that
 * failed or forgot has left is gone with it.
 */
import { existsSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openTestFolder } from '../../scripts/lib/test-folder.mjs';

/** Where benches keep the models that they fetched; some tests take them where they are there. */
const BENCH = 'gannet-bench';

export default function setup(): () => void {
  const ofBenches = join(tmpdir(), BENCH);
  const { folder, remove } = openTestFolder('gannet-tests-');
  if (existsSync(ofBenches)) symlinkSync(ofBenches, join(folder, BENCH));
  process.env['TMPDIR'] = folder;
  return remove;
}
