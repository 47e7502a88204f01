import { expect, it } from 'vitest';
import { typed } from '../../test/support/typed-command.js';
import { EXIT } from './exit-codes.js';

it.each([
  [['import', 'x.csv', '--lst', 'y'], "unknown option '--lst'\n(Did you mean --list?)"],
  [['import', 'x.csv', '--lst=y'], "unknown option '--lst'\n(Did you mean --list?)"],
  [['reindex', '--wholly'], "unknown option '--wholly'\n(gannet reindex --help"],
  [['import', 'x.csv'], "required option '--list <name>' not specified"],
  // After `--` nothing is an option.
  [['import', '--', '-x'], "required option '--list <name>' not specified"],
])('gannet %j is refused: %s', async (words, sentence) => {
  expect(await typed(...words)).toMatchObject({ status: EXIT.usage, err: expect.stringContaining(sentence) as string });
});
