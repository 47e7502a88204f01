import { expect, it } from 'vitest';
import { fieldChoices } from './field-choices.js';
import { listNameOf, sampleOf } from './file-sample.js';

it('fieldChoices searches numbers that people type, such as ISBNs, but not years and counts', async () => {
  const file = new Blob(['isbn,title,year,sold\n9781000000005,Gannets,1984,12000000\n9781000000012,Terns,1999,3\n']);
  const choices = fieldChoices(await sampleOf(file, { format: 'csv', path: [] }));
  expect(choices.filter(({ searchable }) => searchable).map(({ name }) => name)).toEqual(['title', 'isbn']);
  expect(choices.find(({ name }) => name === 'isbn')).toMatchObject({ facet: 'number', example: 9781000000005 });
});

it('listNameOf removes diacritics from letters', () => {
  expect(listNameOf('Bücher 2024.csv')).toBe('bucher-2024');
  expect(listNameOf('Œuvres d’été.csv')).toBe('oeuvres-d-ete');
  expect(listNameOf('Straßen in Łódź.csv')).toBe('strassen-in-lodz');
});
