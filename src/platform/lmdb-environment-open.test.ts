/**
 * Environments that cannot be opened: each is an error that the process survives, with everything released. The tests
 * use processes of their own.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openEnvironment } from './lmdb-environment.js';

const DIST = new URL('../../dist/src/platform/', import.meta.url).href;
const PACKAGE = fileURLToPath(new URL('../..', import.meta.url));
const NOBODY = 65_534;
/** There are several attempts, because the next one meets what a failed one leaves behind. */
const ATTEMPTS = 20;

let folder: string;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gannet-open-'));
  await openEnvironment(join(folder, 'store'), { kind: 'system' }).close();
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

interface Circumstances {
  readonly uid?: number;
  readonly readOnly?: boolean;
  /** Whether all file descriptors are in use. */
  readonly exhausted?: boolean;
}

/**
 * Returns the distinct messages of attempts to open it, from a process that then opens another environment as usual.
 */
function attempts({ uid, readOnly = false, exhausted = false }: Circumstances = {}): string[] {
  const script = `
    import { openSync, closeSync, readdirSync, readlinkSync } from 'node:fs';
    import { setTimeout as after } from 'node:timers/promises';
    import { open } from ${JSON.stringify(`${DIST}lmdb.js`)};
    import { openEnvironment } from ${JSON.stringify(`${DIST}lmdb-environment.js`)};
    const path = ${JSON.stringify(join(folder, 'store'))};
    const held = [];
    const descriptors = targets();
    if (${exhausted}) exhaust();
    const said = [];
    for (let attempt = 0; attempt < ${ATTEMPTS}; ++attempt) {
      for (const how of [() => openEnvironment(path, { kind: 'system', readOnly: ${readOnly} }), () => open({ path, noSubdir: false, readOnly: ${readOnly} })]) {
        try { how(); said.push('opened'); } catch (error) { said.push(String(error.message)); }
      }
    }
    for (const file of held) closeSync(file);
    // Node and the C library open some of their own for a moment; what an attempt left stays.
    for (let look = 0; look < 500 && left().length > 0; ++look) await after(10);
    said.push(...left().map((target) => 'left open: ' + target));
    const other = openEnvironment(${JSON.stringify(join(folder, 'other'))}, { kind: 'system' });
    await other.transaction(() => void other.database('values').putSync('a', 1));
    const read = other.database('values').get('a');
    if (read !== 1) said.push('of another one was read: ' + read);
    await other.close();
    process.stdout.write(JSON.stringify(said));
    /** The files that the descriptors of this process lead to; its pipes and queues of events are Node's. */
    function targets() {
      return readdirSync('/proc/self/fd').flatMap((name) => {
        try { return [readlinkSync('/proc/self/fd/' + name)]; } catch { return []; }
      }).filter((target) => target.startsWith('/'));
    }
    /** Those that there were not at first. */
    function left() {
      const known = [...descriptors];
      return targets().filter((target) => {
        const at = known.indexOf(target);
        if (at >= 0) known.splice(at, 1);
        return at < 0;
      });
    }
    function exhaust() {
      try { for (;;) held.push(openSync('/dev/null')); } catch (error) { if (error.code !== 'EMFILE') throw error; }
    }
  `;
  const argv = ['--input-type=module', '--eval', script];
  const { status, signal, stdout, stderr } = spawnSync(
    'sh',
    ['-c', 'ulimit -n 600; exec "$0" "$@"', process.execPath, ...argv],
    { cwd: PACKAGE, encoding: 'utf8', timeout: 200_000, ...(uid === undefined ? {} : { uid, gid: uid }) },
  );
  expect([status, signal], stderr).toEqual([0, null]);
  const said = JSON.parse(stdout) as string[];
  expect(said.slice(2 * ATTEMPTS), 'what is said after the attempts').toEqual([]);
  return [...new Set(said)];
}

describe.skipIf(process.platform !== 'linux')('an environment that cannot be opened', () => {
  it('because another process has it open is refused, and stays intact for that process', async () => {
    const script = `
      import { openEnvironment } from ${JSON.stringify(`${DIST}lmdb-environment.js`)};
      const environment = openEnvironment(${JSON.stringify(join(folder, 'store'))}, { kind: 'system' });
      process.stdout.write('open');
      process.stdin.once('data', async () => {
        await environment.transaction(() => void environment.database('values').putSync('a', 1));
        process.stdout.write(String(environment.database('values').get('a')));
        process.exit();
      });
    `;
    const holder = spawn(process.execPath, ['--input-type=module', '--eval', script], { cwd: PACKAGE });
    await once(holder.stdout, 'data');
    for (const readOnly of [false, true]) {
      for (const said of attempts({ readOnly })) expect(said).toMatch(/temporarily unavailable/);
    }
    holder.stdin.write('go on');
    const [answer] = (await once(holder.stdout, 'data')) as [Buffer];
    expect(answer.toString()).toBe('1');
    await once(holder, 'close');
  });

  it('because no file descriptor is left is refused', () => {
    for (const said of attempts({ exhausted: true })) expect(said).toMatch(/too many open files|descriptor/i);
  });

  it('because its meta pages are damaged is refused', () => {
    writeFileSync(join(folder, 'store', 'data.mdb'), Buffer.alloc(16_384, 0x5a));
    for (const said of attempts()) expect(said).toMatch(/damaged|MDB_(INVALID|CORRUPTED)/);
  });

  it('because its file is a folder is refused', () => {
    rmSync(join(folder, 'store', 'data.mdb'));
    mkdirSync(join(folder, 'store', 'data.mdb'));
    for (const said of attempts()) expect(said).toMatch(/is a directory|EISDIR/i);
  });

  it.skipIf(process.getuid?.() !== 0)('because it belongs to another user is refused', () => {
    chmodSync(folder, 0o777);
    chmodSync(join(folder, 'store'), 0o755);
    for (const name of readdirSync(join(folder, 'store'))) chmodSync(join(folder, 'store', name), 0o600);
    for (const said of attempts({ uid: NOBODY })) expect(said).toMatch(/permission denied|EACCES/i);
  });
});
