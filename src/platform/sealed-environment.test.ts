import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openEnvironment } from './lmdb-environment.js';

describe('an environment written by this build of LMDB', () => {
  it('is marked in both meta pages so that other builds refuse it, even if one of them created it', async () => {
    const versions = (path: string) => {
      const bytes = readFileSync(join(path, 'data.mdb'));
      // After the page header and the magic number; the second page begins at the page size that the first one states.
      return [24, 24 + bytes.readUInt32LE(48)].map((at) => bytes.readUInt32LE(at + 4) & 0xffff);
    };
    const made = join(mkdtempSync(join(tmpdir(), 'gannet-sealed-')), 'system');
    await openEnvironment(made, { kind: 'system' }).close();
    const sealed = versions(made);
    expect(sealed[0]).not.toBe(2);
    expect(new Set(sealed).size).toBe(1);

    const older = join(mkdtempSync(join(tmpdir(), 'gannet-unsealed-')), 'system');
    // The package as it is published.
    const env = { ...process.env, LMDB_PREBUILD: undefined };
    execFileSync(
      process.execPath,
      [
        '-e',
        'require("lmdb").open({ path: process.argv[1], noSubdir: false, overlappingSync: false, maxDbs: 4 }).openDB({ name: "accounts" }).putSync("a", 1)',
        older,
      ],
      { env },
    );
    expect(versions(older)).toEqual([2, 2]);
    const environment = openEnvironment(older, { kind: 'system' });
    expect(environment.database('accounts').get('a')).toBe(1);
    await environment.close();
    expect(versions(older)).toEqual(sealed);
  });
});
