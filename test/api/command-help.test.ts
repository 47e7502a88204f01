/** What the help of each command says. */
import { describe, expect, it } from 'vitest';
import { EXAMPLES } from '../../src/cli/command-help.js';
import { commandNames } from '../../src/cli/command-line.js';
import { typed, typedWith } from '../support/typed-command.js';

const helpOf = (name: string) => typedWith(() => import('../../src/main.js'), ...name.split(' '), '--help');

describe('the help of each command', () => {
  it.each(commandNames())('says of gannet %s how it is called', async (name) => {
    const { out } = await helpOf(name);
    const [usage = ''] = out.split('\n', 1);
    const takesSomething = usage.includes('<') || out.includes('(required)');
    // What is typed behind `call` and `list` is no matter of options.
    if (takesSomething) expect(out).toMatch(new RegExp(`^Example: gannet ${name}\\b`, 'm'));
  });

  it('marks what it cannot do without', async () => {
    const { out } = await helpOf('webhook create');
    expect(out).toMatch(/--url <url> .*\(required\)/);
    expect((await helpOf('media list')).out).not.toContain('(required)');
  });

  it.each(Object.entries(EXAMPLES))('has an example for gannet %s that it takes', async (name, example) => {
    const words = (example.match(/'[^']*'|\S+/g) ?? []).map((word) => word.replaceAll("'", ''));
    // It gets as far as to a data directory that is not there, or a file.
    const { err } = await typed(...name.split(' '), ...words);
    expect(err).not.toMatch(/error:|--help shows/);
    expect(err).not.toBe('');
  });
});
