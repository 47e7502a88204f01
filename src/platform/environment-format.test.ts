import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { checkFormat, FORMAT_KEY, FormatError, type EnvironmentFormat, type FormatRow } from './environment-format.js';
import { assertEnvironmentKnown, openEnvironment } from './lmdb-environment.js';

const FIRST = { kind: 'shelf', number: 1, content: 'books', databases: /^books$/ } as const satisfies EnvironmentFormat;
const upgradedTo = (number: number, upgrades: EnvironmentFormat['upgrades'] = {}): EnvironmentFormat => ({
  ...FIRST,
  number,
  upgrades,
});
const SECOND = upgradedTo(2, {
  2: (root) => {
    const books = root.openDB<string, string>({ name: 'books' });
    for (const { key, value } of books.getRange()) books.putSync(key, value.toUpperCase());
  },
});

const DOUBLED = upgradedTo(2, {
  2: (root) => {
    const books = root.openDB<string, string>({ name: 'books' });
    for (const { key, value } of books.getRange()) books.putSync(key, value.repeat(2));
  },
});

let path: string;
beforeEach(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gannet-format-'));
  path = join(folder, 'shelf');
  const environment = openEnvironment(path, { kind: FIRST });
  const books = environment.database<string, string>('books');
  await environment.transaction(() => books.putSync('one', 'red'));
  await environment.close();
  return () => {
    rmSync(folder, { recursive: true });
  };
});

async function opened(format: EnvironmentFormat): Promise<{ readonly row: FormatRow; readonly book: unknown }> {
  const environment = openEnvironment(path, { kind: format });
  const row = environment.root.get(FORMAT_KEY) as FormatRow;
  const book = environment.database<string, string>('books').get('one');
  await environment.close();
  return { row, book };
}

it('An environment is upgraded to the format of this release once, when it is first opened', async () => {
  expect(await opened(SECOND)).toMatchObject({ row: { number: 2 }, book: 'RED' });
  const again = upgradedTo(2, { 2: () => expect.unreachable('it is of this format already') });
  expect(await opened(again)).toMatchObject({ row: { number: 2 }, book: 'RED' });
  expect(() => openEnvironment(path, { kind: FIRST })).toThrow('has format 2, and this release reads format 1');
});

it('An upgrade takes all steps, even from a release that wrote no format number', async () => {
  const environment = openEnvironment(path, { kind: FIRST });
  await environment.transaction(() => environment.root.removeSync(FORMAT_KEY));
  await environment.close();
  const third = (root: Parameters<NonNullable<EnvironmentFormat['upgrades']>[number]>[0]): void => {
    const books = root.openDB<string, string>({ name: 'books' });
    books.putSync('one', `${String(books.get('one'))}, bound`);
  };
  const format = upgradedTo(3, { ...SECOND.upgrades, 3: third });
  expect(await opened(format)).toMatchObject({ row: { number: 3 }, book: 'RED, bound' });
});

it('An upgrade step is not repeated if another thread took it meanwhile', async () => {
  const environment = openEnvironment(path, { kind: FIRST });
  const { root } = environment;
  const transactionSync = root.transactionSync.bind(root);
  root.transactionSync = (action) => {
    root.transactionSync = transactionSync;
    checkFormat(root, { path, kind: DOUBLED, isReadOnly: false });
    return transactionSync(action);
  };
  checkFormat(root, { path, kind: DOUBLED, isReadOnly: false });
  expect(environment.database('books').get('one')).toBe('redred');
  await environment.close();
});

it('A failed upgrade changes nothing, and an upgrade with a missing step is refused', async () => {
  const failing = upgradedTo(3, {
    ...SECOND.upgrades,
    3: () => {
      throw new Error('no binder');
    },
  });
  expect(() => openEnvironment(path, { kind: failing })).toThrow('no binder');
  const gap = upgradedTo(3, { 3: () => undefined });
  expect(() => openEnvironment(path, { kind: gap })).toThrow(FormatError);
  expect(await opened(FIRST)).toMatchObject({ row: { number: 1 }, book: 'red' });
});

it('An earlier format is accepted before it is opened, and not upgraded by a reader', async () => {
  assertEnvironmentKnown(path, SECOND);
  const reader = openEnvironment(path, { kind: SECOND, readOnly: true });
  expect(reader.database('books').get('one')).toBe('red');
  await reader.close();
  expect(await opened(FIRST)).toMatchObject({ row: { number: 1 }, book: 'red' });
});
