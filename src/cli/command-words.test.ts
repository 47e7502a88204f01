/** Which options belong to a command, and which to the program. */
import { expect, it } from 'vitest';
import { typed } from '../../test/support/typed-command.js';
import { EXIT } from './exit-codes.js';

it.each([
  ['search', 'birds', 'wings', '--version', '2'],
  ['import', 'birds.csv', '--list', 'birds', '--version'],
  ['list', '-V'],
])("The option for the program's version is refused after a command: gannet %s … %s", async (...words) => {
  const { status, out, err } = await typed(...words);
  expect([status, out]).toEqual([EXIT.usage, '']);
  expect(err).toMatch(/unknown option '(?:--version|-V)'/);
});

it('The help of a command is printed on standard output', async () => {
  expect(await typed('search', '--help')).toMatchObject({ status: EXIT.done, err: '' });
  expect((await typed('search', '--help')).out).toContain('Usage: gannet search');
});

it('The version of the program is printed, even if a command follows the option', async () => {
  expect((await typed('--version')).out).toMatch(/^\d+\.\d+\.\d+\n$/);
  expect(await typed('-V', 'list')).toMatchObject({ status: EXIT.done, err: '' });
});
