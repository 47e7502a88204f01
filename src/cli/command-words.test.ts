/** Which words belong to whom. */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runCommandLine } from './command-line.js';
import { EXIT } from './exit-codes.js';
import type { ServiceLoader } from './service-loader.js';

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

it.each([
  ['search', 'birds', 'wings', '--version', '2'],
  ['import', 'birds.csv', '--list', 'birds', '--version'],
  ['list', '-V'],
])('the version of the program is not what gannet %s … %s is asked for', async (...words) => {
  const { status, out, err } = await gannet(...words);
  expect([status, out]).toEqual([EXIT.usage, '']);
  expect(err).toMatch(/unknown option '(?:--version|-V)'/);
});

it('help of a command goes where everything does that is written', async () => {
  expect(await gannet('search', '--help')).toMatchObject({ status: EXIT.done, err: '' });
  expect((await gannet('search', '--help')).out).toContain('Usage: gannet search');
});

it('tells its version, and where a command stands behind it, too', async () => {
  expect((await gannet('--version')).out).toMatch(/^\d+\.\d+\.\d+\n$/);
  expect(await gannet('-V', 'list')).toMatchObject({ status: EXIT.done, err: '' });
});
