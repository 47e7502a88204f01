import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { readSecrets } from './secret-input.js';

const output = {
  isTerminal: false,
  columns: 80,
  write: () => undefined,
  settle: () => Promise.resolve(),
  note: () => undefined,
};
const asked = [
  { name: 'secret', isRequired: true },
  { name: 'proxy_secret', isRequired: false },
];

describe('secrets on standard input', () => {
  it.each([
    [
      'one\ntwo\n',
      [
        ['secret', 'one'],
        ['proxy_secret', 'two'],
      ],
    ],
    [
      'one\r\ntwo',
      [
        ['secret', 'one'],
        ['proxy_secret', 'two'],
      ],
    ],
    ['one\n\n', [['secret', 'one']]],
    ['one', [['secret', 'one']]],
  ])('%j', async (text, secrets) => {
    expect(await readSecrets(asked, output, Readable.from([text]))).toEqual(secrets);
  });

  it('have to be there where they are needed', async () => {
    await expect(readSecrets(asked, output, Readable.from([]))).rejects.toThrow(
      "'secret' is read from standard input, which has no line for it.",
    );
  });
});
