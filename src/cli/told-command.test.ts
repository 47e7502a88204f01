import { expect, it } from 'vitest';
import { EXIT } from './exit-codes.js';
import { runCommandLine } from './command-line.js';

async function told(...words: string[]) {
  let notes = '';
  const output = {
    columns: 80,
    isTerminal: false,
    write: () => undefined,
    note: (text: string) => void (notes += text),
    settle: () => Promise.resolve(),
  };
  const load = () => Promise.reject(new Error('nothing is to be loaded'));
  const status = await runCommandLine(['node', 'gannet', ...words], load, { output, env: {} });
  return { status, notes };
}

it.each([
  [['import', 'x.csv', '--lst', 'y'], "unknown option '--lst'\n(Did you mean --list?)"],
  [['import', 'x.csv', '--lst=y'], "unknown option '--lst'\n(Did you mean --list?)"],
  [['reindex', '--wholly'], "unknown option '--wholly'\n(gannet reindex --help"],
  [['import', 'x.csv'], "required option '--list <name>' not specified"],
  // Behind `--` nothing is an option.
  [['import', '--', '-x'], "required option '--list <name>' not specified"],
])('%j: %s', async (words, sentence) => {
  expect(await told(...words)).toEqual({ status: EXIT.usage, notes: expect.stringContaining(sentence) as string });
});
