import { Command } from 'commander';
import { expect, it } from 'vitest';
import { STORE_KINDS, STORE_MEMBERS, storeKind, type StoreKind } from '../media/store-kinds.js';
import { addMediaCommands } from './media-commands.js';

const KINDS = Object.keys(STORE_KINDS) as StoreKind[];

it('gannet media-store add has an option for every member except secrets, and accepts every kind', () => {
  const program = new Command();
  const parts = { run: () => Promise.resolve(), shared: () => [], wholeNumber: Number };
  addMediaCommands(program, parts);
  const add = program.commands.find((command) => command.name() === 'media-store')?.commands;
  const options = add?.find((command) => command.name() === 'add')?.options ?? [];
  expect(options.find(({ long }) => long === '--kind')?.argChoices).toEqual(KINDS);
  const secrets = new Set(KINDS.map((kind) => storeKind(kind).secret));
  for (const member of Object.keys(STORE_MEMBERS) as (keyof typeof STORE_MEMBERS)[]) {
    const isOption = options.some(({ long }) => long === `--${member.replaceAll('_', '-')}`);
    expect(isOption, member).toBe(!secrets.has(member));
  }
});
