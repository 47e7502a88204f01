import { expect, it } from 'vitest';
import { decimalCommaNote } from './decimal-commas.js';
import { firstRecords } from './first-records.js';

const noteOf = (csv: string) => decimalCommaNote(firstRecords(Buffer.from(csv), 'csv'), 'shop');

it('decimalCommaNote reports columns with decimal commas, and how to import them as numbers', () => {
  const note = noteOf('\ufeffName;Preis;Menge\r\nFöhn;1.106,92;3\r\nStuhl;7,5;\r\nTisch;80;12\r\n');
  expect(note).toMatch(/^Numbers in 'Preis' have a decimal comma \(1\.106,92\), .* \(1106\.92\)/);
  expect(note).toMatch(
    /or in this one after gannet call facet\.create --param list=shop --param name=Preis --param type=number\n$/,
  );
});

it('decimalCommaNote ignores a few other values in a column', () => {
  const rows = Array.from({ length: 30 }, (_, at) => `"${at},5";a`);
  expect(noteOf(['preis;name', ...rows, 'gratis;b', ''].join('\n'))).toContain("'preis'");
});

it.each([
  ['a decimal point', 'name,price\na,1.5\nb,2\n'],
  ['thousands', 'name,people\na,"1,234"\nb,"12,500"\n'],
  ['texts with commas', 'name;size\na;M, L\nb;12,5 cm\n'],
  ['a heading alone', 'name;size\n'],
  ['no CSV', '"'],
])('decimalCommaNote reports nothing for %s', (_what, csv) => {
  expect(noteOf(csv)).toBeUndefined();
});
