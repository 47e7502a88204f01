/** What a file system says by numbers that Node.js has no name for is known as well. */
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

it('a server of files that does not know a folder any more makes the store unavailable, and says why', () => {
  expect(asFolderError(nameless(116), 'a.pdf')).toMatchObject({
    code: 'store-unavailable',
    detail:
      'The file "a.pdf" of this media store cannot be used: the server of files does not know it any more (ESTALE).',
  });
  // A quota.
  expect(asFolderError(nameless(122))).toMatchObject({ code: 'store-full' });
});
