import { expect, it } from 'vitest';
import { fieldChoices } from './field-choices.js';
import { listNameOf, sampleOf } from './file-sample.js';

it('searches the numbers that are typed to find something, and no years, prices and counts', async () => {
  const file = new Blob(['isbn,title,year,sold\n9781000000005,Gannets,1984,12000000\n9781000000012,Terns,1999,3\n']);
  const choices = fieldChoices(await sampleOf(file, { format: 'csv', path: [] }));
  expect(choices.filter(({ searchable }) => searchable).map(({ name }) => name)).toEqual(['title', 'isbn']);
  expect(choices.find(({ name }) => name === 'isbn')).toMatchObject({ facet: 'number', example: 9781000000005 });
});

it('names a list by letters without their marks', () => {
  expect(listNameOf('Bücher 2024.csv')).toBe('bucher-2024');
  expect(listNameOf('Œuvres d’été.csv')).toBe('uvres-d-ete');
});
