import { expect, it } from 'vitest';
import { typed } from '../../test/support/typed-command.js';
import { EXIT } from './exit-codes.js';

it.each([
  [['serch', '--help'], "unknown command 'serch'\n(Did you mean search?)"],
  [['help', 'serch'], "unknown command 'serch'\n(Did you mean search?)"],
  [['feed', 'connct', '-h'], "unknown command 'connct'\n(Did you mean connect?)"],
  [['help', 'key', 'creat'], "unknown command 'creat'\n(Did you mean create?)"],
  // These commands are declared by features, and loaded by themselves.
  [['fed', 'list'], "unknown command 'fed'\n(Did you mean feed?)"],
  [['progres'], "unknown command 'progres'\n(Did you mean progress?)"],
])('gannet %j is refused: %s', async (words, sentence) => {
  expect(await typed(...words)).toEqual({
    status: EXIT.usage,
    out: '',
    err: expect.stringContaining(sentence) as string,
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
])('gannet %j prints %s', async (words, usage) => {
  expect(await typed(...words)).toEqual({
    status: EXIT.done,
    out: expect.stringContaining(usage) as string,
    err: '',
  });
});

it('gannet --help lists every command with its purpose', async () => {
  const { out } = await typed('--help');
  const lines = out.slice(out.indexOf('Commands:')).split('\n').slice(1, -1);
  expect(lines.filter((line) => !/^ +\S.*\S {2,}\S|^ {10}/.test(line))).toEqual([]);
  expect(out).toContain('invite people to an account');
  expect((await typed('search', '--help')).out).not.toContain('[]');
});
