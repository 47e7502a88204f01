/** Errors of a file system for which Node.js has no name are recognized by their number. */
import { expect, it } from 'vitest';
import { asFolderError } from './folder-faults.js';

const nameless = (number: number) => {
  const code = `Unknown system error -${number}`;
  return Object.assign(new Error(`${code}: ${code}, open '/mnt/files/a.pdf'`), {
    code,
    errno: -number,
    syscall: 'open',
  });
};

it('asFolderError reports a stale handle of a file server as an unavailable store', () => {
  expect(asFolderError(nameless(116), 'a.pdf')).toMatchObject({
    code: 'store-unavailable',
    detail:
      'The file "a.pdf" of this media store cannot be used: the server of files does not know it any more (ESTALE).',
  });
  // A disk quota is exceeded.
  expect(asFolderError(nameless(122))).toMatchObject({ code: 'store-full' });
});
