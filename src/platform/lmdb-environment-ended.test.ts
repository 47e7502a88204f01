/**
 * A thread that is terminated within a transaction, as one that does not close in time. The environment is that of the
 * compiled service (`npm run build`).
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, it } from 'vitest';

const MODULE = new URL('../../dist/src/platform/lmdb-environment.js', import.meta.url).href;
const PACKAGE = fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'gannet-ended-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const OPENED = `
  import { openEnvironment } from ${JSON.stringify(MODULE)};
  const environment = openEnvironment(${JSON.stringify(join(folder, 'store'))}, { kind: 'system' });
  const values = environment.database('values');
`;
const THREAD = `
  import { parentPort } from 'node:worker_threads';
  ${OPENED}
  void environment.transaction(() => {
    values.putSync('lost', 'lost');
    parentPort.postMessage('within');
    for (;;);
  });
`;
const PROGRAM = `
  import { once } from 'node:events';
  import { Worker } from 'node:worker_threads';
  ${OPENED}
  await environment.transaction(() => void values.putSync('before', 'before'));
  const thread = new Worker(new URL('data:text/javascript,' + encodeURIComponent(${JSON.stringify(THREAD)})));
  await once(thread, 'message');
  await thread.terminate();
  await environment.transaction(() => void values.putSync('after', 'after'));
  process.stdout.write(JSON.stringify([...values.getKeys()]));
  await environment.close();
`;
/** The time after which the process counts as hanging; a busy machine may be slow. */
const HANGS_MS = 100_000;

it('Terminating a thread within a transaction discards the transaction and releases its locks', () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', PROGRAM], {
    cwd: PACKAGE,
    encoding: 'utf8',
    timeout: HANGS_MS,
    killSignal: 'SIGKILL',
  });
  expect([status, stdout], stderr).toEqual([0, '["after","before"]']);
});
