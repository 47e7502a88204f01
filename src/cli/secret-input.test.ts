import { PassThrough, Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { readSecrets } from './secret-input.js';

const output = {
  isTerminal: false,
  columns: 80,
  write: () => undefined,
  settle: () => Promise.resolve(),
  note: () => undefined,
};
const asked = ['secret', 'proxy_secret'];
const both = [
  ['secret', 'one'],
  ['proxy_secret', 'two'],
];

describe('secrets on standard input', () => {
  it.each(['one\ntwo\n', 'one\r\ntwo', 'one\ntwo\nthree\n'])('%j', async (text) => {
    expect(await readSecrets(asked, output, Readable.from([text]))).toEqual(both);
  });

  it.each([[[]], [['one']], [['one\n']]])('have to be there: %j', async (pieces) => {
    await expect(readSecrets(asked, output, Readable.from(pieces))).rejects.toThrow(
      /^Expected the (?:proxy )?secret on standard input, which has no line left\.$/,
    );
  });

  it('are not waited for where none is asked for, nor for more than their lines', async () => {
    const open = new PassThrough();
    expect(await readSecrets([], output, open)).toEqual([]);
    open.write('one\ntwo\n');
    expect(await readSecrets(asked, output, open)).toEqual(both);
  });
});
