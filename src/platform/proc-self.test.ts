import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { itWhere } from '../../test/support/skip.js';
import { pageBytes, pageBytesOf, procSelf } from './proc-self.js';

const vector = (...words: readonly number[]) => Buffer.from(BigUint64Array.from(words, BigInt).buffer);

describe('the page size', () => {
  it('is read from the auxiliary vector', () => {
    expect(pageBytesOf(vector(33, 7, 6, 65_536, 0, 0))).toBe(65_536);
    expect(pageBytesOf(vector(6, 16_384))).toBe(16_384);
  });

  it('defaults to 4096 if the vector lacks it or is truncated', () => {
    expect(pageBytesOf(Buffer.alloc(0))).toBe(4096);
    expect(pageBytesOf(vector(33, 6, 0, 0))).toBe(4096);
    expect(pageBytesOf(vector(6, 16_384).subarray(0, 15))).toBe(4096);
  });

  it('comes from procSelf, which returns undefined for a file that does not exist', () => {
    expect(procSelf('of another system' as 'auxv')).toBeUndefined();
  });

  itWhere(process.platform === 'linux', 'only Linux has /proc')('is that of getconf on this system', () => {
    expect(pageBytes()).toBe(Number(execFileSync('getconf', ['PAGESIZE'], { encoding: 'utf8' })));
    expect(procSelf('limits')?.toString()).toContain('Max open files');
  });
});
