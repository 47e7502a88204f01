/** Which words belong to whom. */
import { expect, it } from 'vitest';
import { typed } from '../../test/support/typed-command.js';
import { EXIT } from './exit-codes.js';

it.each([
  ['search', 'birds', 'wings', '--version', '2'],
  ['import', 'birds.csv', '--list', 'birds', '--version'],
  ['list', '-V'],
])('the version of the program is not what gannet %s … %s is asked for', async (...words) => {
  const { status, out, err } = await typed(...words);
  expect([status, out]).toEqual([EXIT.usage, '']);
  expect(err).toMatch(/unknown option '(?:--version|-V)'/);
});

it('help of a command goes where everything does that is written', async () => {
  expect(await typed('search', '--help')).toMatchObject({ status: EXIT.done, err: '' });
  expect((await typed('search', '--help')).out).toContain('Usage: gannet search');
});

it('tells its version, and where a command stands behind it, too', async () => {
  expect((await typed('--version')).out).toMatch(/^\d+\.\d+\.\d+\n$/);
  expect(await typed('-V', 'list')).toMatchObject({ status: EXIT.done, err: '' });
});
