import { expect, it } from 'vitest';
import { EXIT } from './exit-codes.js';
import { runCommandLine } from './command-line.js';

async function printed(...words: string[]) {
  let [text, notes] = ['', ''];
  const output = {
    columns: 80,
    isTerminal: false,
    write: (more: string) => void (text += more),
    note: (more: string) => void (notes += more),
    settle: () => Promise.resolve(),
  };
  const load = () => Promise.reject(new Error('nothing is to be loaded'));
  const status = await runCommandLine(['node', 'gannet', ...words], load, { output, env: {} });
  return { status, text, notes };
}

it.each([
  [['serch', '--help'], "unknown command 'serch'\n(Did you mean search?)"],
  [['help', 'serch'], "unknown command 'serch'\n(Did you mean search?)"],
  [['feed', 'connct', '-h'], "unknown command 'connct'\n(Did you mean connect?)"],
  [['help', 'key', 'creat'], "unknown command 'creat'\n(Did you mean create?)"],
  // Of commands that are declared by features, and loaded for themselves alone.
  [['fed', 'list'], "unknown command 'fed'\n(Did you mean feed?)"],
  [['progres'], "unknown command 'progres'\n(Did you mean progress?)"],
])('%j: %s', async (words, sentence) => {
  expect(await printed(...words)).toEqual({
    status: EXIT.usage,
    text: '',
    notes: expect.stringContaining(sentence) as string,
  });
});

it.each([
  [['help', 'feed', 'connect'], 'Usage: gannet feed connect '],
  [['help', 'feed'], 'Usage: gannet feed '],
  [['help', 'key', 'ls'], 'Usage: gannet key list|ls '],
  [['help', 'backup', 'list'], 'Usage: gannet backup list '],
  [['help'], 'Usage: gannet [options]'],
  [['--config', 'x.toml', 'feed', 'list', '--help'], 'Usage: gannet feed list '],
  [['--config=x.toml', 'help', 'feed', 'list'], 'Usage: gannet feed list '],
  [['backup', '/srv', '--help'], 'Usage: gannet backup '],
])('%j prints %s', async (words, usage) => {
  expect(await printed(...words)).toEqual({
    status: EXIT.done,
    text: expect.stringContaining(usage) as string,
    notes: '',
  });
});

it('every command is listed with what it is for', async () => {
  const { text } = await printed('--help');
  const lines = text.slice(text.indexOf('Commands:')).split('\n').slice(1, -1);
  expect(lines.filter((line) => !/^ +\S.*\S {2,}\S|^ {10}/.test(line))).toEqual([]);
  expect(text).toContain('invite people who work on an account');
  expect((await printed('search', '--help')).text).not.toContain('[]');
});
