import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { OperatorError } from '../platform/index.js';
import { itWhere } from '../../test/support/skip.js';
import { describeBackup, DESCRIPTION_FILE, readDescription } from './description.js';

const NOBODY = 65_534;
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gannet-description-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

const WHOLE = describeBackup({
  made_utc: '2026-11-22T08:15:00.000Z',
  made_by: '1.0.0',
  data_dir: '/srv/gannet',
  lists: 1,
  files: [{ path: 'lists/a/store/data.mdb', bytes: 4096 }],
});

function read(text: string | Uint8Array) {
  writeFileSync(join(folder, DESCRIPTION_FILE), text);
  return readDescription(folder);
}

describe('the description of a backup', () => {
  it('is read as it was written', () => {
    expect(read(WHOLE)).toMatchObject({ lists: 1, files: [{ path: 'lists/a/store/data.mdb', bytes: 4096 }] });
  });

  itWhere(process.getuid?.() === 0, 'only root can be another user for a while')(
    'says whose a backup has to be if this user may not read it',
    () => {
      writeFileSync(join(folder, DESCRIPTION_FILE), WHOLE, { mode: 0o600 });
      process.seteuid?.(NOBODY);
      try {
        expect(() => readDescription(folder)).toThrow(
          /^The user with the id 65534 may not read .*: give that user a copy of it \(chown -R\)\.$/,
        );
      } finally {
        process.seteuid?.(0);
      }
    },
  );

  it('names no file outside the backup', () => {
    const part = fc.constantFrom('..', '.', '', 'a', 'lists', '\0');
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 5 }), (parts) => {
        const text = JSON.stringify({ ...JSON.parse(WHOLE), files: [{ path: parts.join('/'), bytes: 0 }] });
        if (parts.some((each) => !/^[a-z]+$/u.test(each))) expect(() => read(text)).toThrow(OperatorError);
        else expect(read(text).files).toHaveLength(1);
      }),
    );
  });

  it('is reported with an OperatorError if it is damaged', () => {
    fc.assert(
      fc.property(fc.nat(WHOLE.length - 1), fc.integer({ min: 0, max: 255 }), fc.boolean(), (place, byte, cut) => {
        const bytes = Buffer.from(WHOLE);
        bytes[place] = byte;
        try {
          const { files } = read(cut ? bytes.subarray(0, place) : bytes);
          for (const { path } of files) expect(path.split('/')).not.toContain('..');
        } catch (error) {
          expect(error).toBeInstanceOf(OperatorError);
        }
      }),
    );
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(() => read(text)).toThrow(OperatorError);
      }),
    );
  });
});
