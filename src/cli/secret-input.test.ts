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

describe('readSecrets', () => {
  it.each(['one\ntwo\n', 'one\r\ntwo', 'one\ntwo\nthree\n'])('reads a secret per line: %j', async (text) => {
    expect(await readSecrets(asked, output, Readable.from([text]))).toEqual(both);
  });

  it.each([[[]], [['one']], [['one\n']]])('fails if a line is missing: %j', async (pieces) => {
    await expect(readSecrets(asked, output, Readable.from(pieces))).rejects.toThrow(
      /^Expected the (?:proxy )?secret on standard input, which has no line left\.$/,
    );
  });

  it('does not wait if no secret is needed, nor for more than the needed lines', async () => {
    const open = new PassThrough();
    expect(await readSecrets([], output, open)).toEqual([]);
    open.write('one\ntwo\n');
    expect(await readSecrets(asked, output, open)).toEqual(both);
  });
});
