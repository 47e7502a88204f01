/** Tests what the help of each command says. */
import { describe, expect, it } from 'vitest';
import { EXAMPLES } from '../../src/cli/command-help.js';
import { commandNames } from '../../src/cli/command-line.js';
import { typed, typedWith } from '../support/typed-command.js';

const helpOf = (name: string) => typedWith(() => import('../../src/main.js'), ...name.split(' '), '--help');

describe('the help of each command', () => {
  it.each(commandNames())(
    'begins with the usage of gannet %s, and shows an example if it needs arguments',
    async (name) => {
      const { out } = await helpOf(name);
      const [usage = ''] = out.split('\n', 1);
      expect(usage).toMatch(new RegExp(`^Usage: gannet ${name}\\b`));
      const takesSomething = usage.includes('<') || out.includes('(required)');
      // Arguments of `call` and `list` that are optional need no example.
      if (takesSomething) expect(out).toMatch(new RegExp(`^Example: gannet ${name}\\b`, 'm'));
    },
  );

  it('marks required options', async () => {
    const { out } = await helpOf('webhook create');
    expect(out).toMatch(/--url <url> .*\(required\)/);
    expect((await helpOf('media list')).out).not.toContain('(required)');
  });

  it.each(Object.entries(EXAMPLES))(
    'shows an example for gannet %s that the command accepts',
    async (name, example) => {
      const words = (example.match(/'[^']*'|\S+/g) ?? []).map((word) => word.replaceAll("'", ''));
      // The command gets as far as a missing data directory or file.
      const { err } = await typed(...name.split(' '), ...words);
      expect(err).not.toMatch(/error:|--help shows/);
      expect(err).not.toBe('');
    },
  );
});
