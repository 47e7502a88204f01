/**
 * Tests files of a shop without a column `name`: which field names the records, and what happens when a file is
 * imported again.
 */
import { expect, it } from 'vitest';
import { violationsOf } from '../support/browser.js';
import { describeConsole } from '../support/console.js';

const GOODS =
  'sku,title,brand,price\nS-1,A warm jacket,Petrel,90\nS-2,A light tent,Petrel,210\nS-3,A folding stove,Fulmar,35\n';

describeConsole('import of a file whose records have no names', { fill: () => Promise.resolve() }, (its) => {
  const button = (name: string) => its.page.getByRole('button', { name });
  const namedBy = () => its.page.getByRole('combobox', { name: 'Name records by' });
  const recordsOf = async (list: string) =>
    ((await its.service.client.get(`/list/default/${list}`)).body as { record_count: number }).record_count;

  async function choose(press: string, name: string, text = GOODS): Promise<void> {
    const chooser = its.page.waitForEvent('filechooser');
    await button(press).click();
    await (await chooser).setFiles({ name, mimeType: 'text/csv', buffer: Buffer.from(text) });
  }

  it('names the records by a field with unique values, and shows them by their titles', async () => {
    await its.visit('');
    await choose('Choose file', 'goods.csv');
    await expect.poll(() => namedBy().inputValue()).toBe('sku');
    await button('Create list and import').click();
    const hits = its.page.getByRole('list', { name: 'Hits' });
    await hits.getByRole('link', { name: 'A light tent' }).waitFor();
    const { body } = await its.service.client.get('/search-result/default/goods');
    const { results } = body as { results: { name: string }[] };
    expect(results.map(({ name }) => name).sort()).toEqual(['S-1', 'S-2', 'S-3']);
  });

  it('replaces the records when the file is imported again, and says so', async () => {
    await its.visit('list/goods/records');
    await choose('Import file', 'goods.csv', GOODS.replace('90', '80'));
    const dialog = its.page.getByRole('dialog');
    await dialog.getByText('Some records in this file have no name').waitFor();
    expect(await namedBy().inputValue()).toBe('sku');
    expect(await violationsOf(its.page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Import records' }).click();
    await dialog.getByText('3 records imported, 0 refused. 3 replaced a record with the same name.').waitFor();
    expect(await recordsOf('goods')).toBe(3);
  });

  it('adds the records again if no field names them', async () => {
    await its.visit('list/goods/records');
    await choose('Import file', 'goods.csv');
    await namedBy().click();
    await its.page.getByRole('option', { name: 'No field' }).click();
    await button('Import records').click();
    await its.page.getByText('3 records imported, 0 refused.', { exact: true }).waitFor();
    expect(await recordsOf('goods')).toBe(6);
  });

  it('reports for a new list that some records had the same name', async () => {
    await its.visit('');
    await choose('Choose file', 'brands.csv');
    await namedBy().click();
    await its.page.getByRole('option', { name: 'brand' }).click();
    await button('Create list and import').click();
    await its.page.getByText('1 replaced a record with the same name.').waitFor();
    await button('Search list').click();
    await its.page.waitForURL(/list\/brands\/search/);
    expect(await recordsOf('brands')).toBe(2);
  });

  it('imports records from inside a JSON document, flattens objects, and names refused records', async () => {
    const bird = (id: string, name: string) => ({ id, title: `A ${id}`, family: { name, order: 'Suliformes' } });
    const answer = {
      count: 3,
      data: { items: [bird('booby', 'Sulidae'), 7, bird('tern', 'Laridae')] },
    };
    await its.visit('');
    await choose('Choose file', 'answer.json', JSON.stringify(answer));
    await its.page.getByText('The records are in the member data.items of the document.').waitFor();
    await its.page.getByRole('rowheader', { name: 'family.order' }).waitFor();
    expect(await violationsOf(its.page)).toEqual([]);
    await button('Create list and import').click();
    await its.page.getByText('2 records imported, 1 refused.').waitFor();
    await its.page.getByText('Record 2').waitFor();
    const { body } = await its.service.client.get('/search-result/default/answer');
    const { results } = body as { results: { name: string; fields: object }[] };
    expect(results).toMatchObject(
      ['booby', 'tern'].map((name) => ({ name, fields: { 'family.order': ['Suliformes'] } })),
    );
  });
});
