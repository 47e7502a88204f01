import { constants } from 'node:os';
import { getSystemErrorName } from 'node:util';
import { expect, it } from 'vitest';
import { isUnreadable } from './damaged-storage.js';
import { isOutOfSpace } from './storage-space.js';
import { systemCode } from './system-code.js';
import { systemReason } from './system-errors.js';

const { EDQUOT, ENOSPC, ESTALE } = constants.errno;

/** An error as `node:fs` throws it. */
const errorOf = (errno: number) => {
  const code = getSystemErrorName(-errno);
  return Object.assign(new Error(`${code}: ${code}, read`), { errno: -errno, code, syscall: 'read' });
};

it('systemCode returns names even for errors that Node.js has no name for, such as a used-up quota', () => {
  for (const [errno, name] of [
    [ENOSPC, 'ENOSPC'],
    [EDQUOT, 'EDQUOT'],
    [ESTALE, 'ESTALE'],
  ] as const)
    expect(systemCode(errorOf(errno))).toBe(name);
  expect(isOutOfSpace(errorOf(EDQUOT))).toBe(true);
  expect(isUnreadable(errorOf(ESTALE))).toBe(true);
  expect(systemReason(errorOf(EDQUOT))).toBe("this user's share of the disk is used up (EDQUOT)");
  for (const other of [new Error('none'), Object.assign(new Error('lmdb'), { code: -30792 })])
    expect(systemCode(other)).toBe((other as { readonly code?: unknown }).code);
});
