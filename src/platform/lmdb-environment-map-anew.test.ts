/**
 * A map that is made anew beside a thread that writes the environment, whose map may grow meanwhile. The environment is
 * that of the compiled service (`npm run build`).
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect } from 'vitest';
import { itWhere } from '../../test/support/skip.js';

const MODULE = new URL('../../dist/src/platform/lmdb-environment.js', import.meta.url).href;
const PACKAGE = fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'gannet-map-anew-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const OPENED = `
  import { mapEnvironmentAnew, openEnvironment } from ${JSON.stringify(MODULE)};
  const path = ${JSON.stringify(join(folder, 'store'))};
  const environment = openEnvironment(path, { kind: 'system' });
  const values = environment.database('values');
`;
/** Grows the map in each half of a transaction, and waits for the other thread between them. */
const THREAD = `
  import { parentPort, workerData } from 'node:worker_threads';
  ${OPENED}
  const text = 'a text '.repeat(20_000);
  await environment.transaction(() => {
    for (let index = 0; index < 40; ++index) values.putSync('first ' + index, text);
    parentPort.postMessage('within');
    Atomics.wait(workerData, 0, 0);
    for (let index = 0; index < 400; ++index) values.putSync('then ' + index, text);
  });
  await environment.close();
  parentPort.postMessage('committed');
`;
const PROGRAM = `
  import { once } from 'node:events';
  import { Worker } from 'node:worker_threads';
  ${OPENED}
  await environment.transaction(() => void values.putSync('before', 'before'));
  const turn = new Int32Array(new SharedArrayBuffer(4));
  const source = new URL('data:text/javascript,' + encodeURIComponent(${JSON.stringify(THREAD)}));
  const thread = new Worker(source, { workerData: turn });
  const map = () => {
    try {
      mapEnvironmentAnew(path);
      return 'mapped';
    } catch (error) {
      return error.code;
    }
  };
  await once(thread, 'message');
  const beside = map();
  Atomics.store(turn, 0, 1);
  Atomics.notify(turn, 0);
  await once(thread, 'message');
  const behind = map();
  const texts = [...values.getRange()].map(({ value }) => value.length);
  process.stdout.write(JSON.stringify([beside, behind, texts.length, texts.filter((length) => length === 140_000).length]));
  await environment.close();
`;
/** The time after which the process counts as hanging; a busy machine may be slow. */
const HANGS_MS = 100_000;
const EBUSY = 16;

itWhere(process.platform === 'linux', 'only Linux maps a file anew in its place')(
  'A map is not made anew while another thread writes, which may grow it: that waits for the end of its transaction',
  () => {
    const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', PROGRAM], {
      cwd: PACKAGE,
      encoding: 'utf8',
      timeout: HANGS_MS,
      killSignal: 'SIGKILL',
    });
    expect([status, stdout], stderr).toEqual([0, JSON.stringify([EBUSY, 'mapped', 441, 440])]);
  },
);
