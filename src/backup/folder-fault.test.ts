import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { mkdir, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { itWhere } from '../../test/support/skip.js';
import { inFolder } from './folder-fault.js';

const NOBODY = 65_534;

itWhere(process.getuid?.() === 0, 'only root can be another user for a while')(
  'A folder of backups that belongs to another user is reported with the command that mends it, and without names that only the service knows',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gannet-backups-'));
    const sentence = `The user with the id ${NOBODY} may not use ${folder} (EACCES). As root, give it the folder of backups: install -d -o ${NOBODY} -m 0700 ${folder}`;
    process.seteuid?.(NOBODY);
    try {
      await expect(inFolder(folder, () => mkdir(join(folder, '.unfinished-1')))).rejects.toThrow(sentence);
      await expect(inFolder(folder, () => readdir(folder))).rejects.toThrow(sentence);
      const missing = join(folder, 'nightly');
      await expect(inFolder(missing, () => mkdir(missing))).rejects.toThrow(`-m 0700 ${missing}`);
    } finally {
      process.seteuid?.(0);
    }
    expect(existsSync(join(folder, '.unfinished-1'))).toBe(false);
    rmSync(folder, { recursive: true });
  },
);
