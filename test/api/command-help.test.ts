/** What the help of each command says. */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { EXAMPLES } from '../../src/cli/command-help.js';
import { commandNames, runCommandLine } from '../../src/cli/command-line.js';
import type { ServiceLoader } from '../../src/cli/service-loader.js';

const NOWHERE = join(tmpdir(), 'gannet-of-no-command', 'data');

interface Told {
  readonly status: number;
  readonly out: string;
  readonly err: string;
}

const gannet = (...words: string[]) => called(words, () => Promise.reject(new Error('nothing is to be loaded')));

async function called(words: readonly string[], load: ServiceLoader): Promise<Told> {
  let out = '';
  let err = '';
  const output = {
    isTerminal: false,
    columns: 80,
    write: (text: string) => {
      out += text;
    },
    settle: () => Promise.resolve(),
    note: (text: string) => {
      err += text;
    },
  };
  const status = await runCommandLine(['node', 'gannet', ...words], load, {
    output,
    env: { GANNET_DATA_DIR: NOWHERE },
  });
  return { status, out, err };
}

const helpOf = (name: string) => called([...name.split(' '), '--help'], () => import('../../src/main.js'));

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
    const { err } = await gannet(...name.split(' '), ...words);
    expect(err).not.toMatch(/error:|--help shows/);
    expect(err).not.toBe('');
  });
});
