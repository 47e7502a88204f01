/** Tests changes by another person or in another tab while a page is open: they stay, and so does what was typed. */
import { expect, it } from 'vitest';
import { settled } from '../support/browser.js';
import { describeConsole } from '../support/console.js';
import type { TestService } from '../support/service.js';

const RULES = 10_000;
const ROWS_MAX = 110;
const LIST = '/list/default/birds';

async function fill({ client }: TestService): Promise<void> {
  await client.post('/list/default', {
    name: 'birds',
    searchable_fields: [{ name: 'title' }],
    facets: [{ name: 'kind', type: 'string' }],
    query_rules: [{ name: 'isbn', pattern: '97[89][0-9]{10}', filter: 'kind = $0' }],
  });
  await client.bulk('default', 'birds', [{ name: 'gannet', title: 'Gannets dive', kind: 'bird' }]);
}

interface Read {
  readonly record_count: number;
  readonly facets: readonly { readonly name: string; readonly type: string; readonly cardinality: string }[];
  readonly query_rules: readonly { readonly name: string; readonly filter: string }[];
}

describeConsole('changes made elsewhere while a page is open', { fill }, (its) => {
  const read = async (): Promise<Read> => (await its.service.client.get(LIST)).body as Read;
  const button = (name: string) => its.page.getByRole('button', { name, exact: true });
  /** Sends the event of a window that becomes visible again. */
  const lookAgain = () => its.page.evaluate("window.dispatchEvent(new Event('visibilitychange'))");
  const change = async (path: string, body: object, method: 'PUT' | 'PATCH' = 'PUT'): Promise<void> => {
    const { status, text } = await its.service.client.send(method, path, { json: body });
    expect(status, text).toBe(200);
  };

  it('show the new state of a record, or ask which state to keep if the person has typed something', async () => {
    const { results } = (await its.service.client.get('/search-result/default/birds')).body as {
      results: readonly { readonly id: string }[];
    };
    const path = `/search-result/default/birds/${results[0]?.id ?? ''}`;
    const titleOf = async () =>
      ((await its.service.client.get(path)).body as { fields: { title: string } }).fields.title;
    await its.visit('list/birds/records');
    await button('gannet').click();
    const drawer = its.page.getByRole('dialog', { name: 'Record' });
    const name = drawer.getByRole('textbox', { name: 'Name' });
    const fields = drawer.getByRole('textbox', { name: 'Fields' });
    await fields.waitFor();
    await change(path, { fields: { title: 'Gannets swim' } }, 'PATCH');
    await expect
      .poll(async () => {
        await lookAgain();
        return fields.innerText();
      })
      .toContain('Gannets swim');

    await name.fill('northern gannet');
    await change(path, { fields: { title: 'Gannets fly' } }, 'PATCH');
    await drawer.getByRole('button', { name: 'Save' }).click();
    const notice = drawer.getByRole('alert');
    await notice.getByText('This record has changed since you opened it').waitFor();
    expect([await name.inputValue(), await titleOf()]).toEqual(['northern gannet', 'Gannets fly']);
    await notice.getByRole('button', { name: 'Discard my edits' }).click();
    await expect.poll(() => fields.innerText()).toContain('Gannets fly');
    expect(await name.inputValue()).toBe('gannet');

    await name.fill('northern gannet');
    await change(path, { fields: { title: 'Gannets sleep' } }, 'PATCH');
    await expect
      .poll(async () => {
        await lookAgain();
        return notice.count();
      })
      .toBe(1);
    await notice.getByRole('button', { name: 'Keep my edits' }).click();
    await drawer.getByRole('button', { name: 'Save' }).click();
    await drawer.waitFor({ state: 'detached' });
    expect(await titleOf()).toBe('Gannets fly');
  });

  it('do not include a second record if “Add record” is pressed twice', async () => {
    const { record_count } = await read();
    await its.visit('list/birds/records?add=true');
    const drawer = its.page.getByRole('dialog', { name: 'Add record' });
    await drawer.getByRole('button', { name: 'Add record' }).dblclick();
    await drawer.waitFor({ state: 'detached' });
    await settled(its.page);
    expect((await read()).record_count).toBe(record_count + 1);
  });

  it('to synonyms and query rules stay when the page adds or removes another rule', async () => {
    const equivalent = (...terms: string[]) => ({ kind: 'equivalent', terms });
    await its.visit('list/birds/synonyms');
    const terms = its.page.getByRole('form', { name: 'Add synonym' }).getByRole('combobox', { name: 'Terms' });
    for (const term of ['gannet', 'solan']) {
      await terms.fill(term);
      await terms.press('Enter');
    }
    await change('/list/synonyms/default/birds', { rules: [equivalent('fulmar', 'mallemuck')] });
    await its.page.getByRole('form', { name: 'Add synonym' }).getByRole('button', { name: 'Add synonym' }).click();
    await its.page.getByText('gannet = solan').waitFor();
    const rulesNow = async () =>
      ((await its.service.client.get('/list/synonyms/default/birds')).body as { rules: unknown }).rules;
    expect(await rulesNow()).toEqual([equivalent('fulmar', 'mallemuck'), equivalent('gannet', 'solan')]);

    await its.visit('list/birds/rules');
    await button('Add query rule').click();
    const form = its.page.getByRole('form', { name: 'Add query rule' });
    await form.getByRole('textbox', { name: 'Name' }).fill('order');
    await form.getByRole('textbox', { name: 'Pattern' }).fill('[0-9]{6}');
    await form.getByRole('textbox', { name: 'Filter' }).fill('kind = $0');
    const [isbn] = (await read()).query_rules;
    await change(LIST, { query_rules: [{ ...isbn, filter: "kind = 'book'" }] });
    await form.getByRole('button', { name: 'Add query rule' }).click();
    await form.waitFor({ state: 'detached' });
    expect((await read()).query_rules.map(({ name, filter }) => [name, filter])).toEqual([
      ['isbn', "kind = 'book'"],
      ['order', 'kind = $0'],
    ]);
    // The next form starts empty.
    await button('Add query rule').click();
    expect(await form.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('');
  });

  it('to a field stay when the page saves another property of the field', async () => {
    await its.visit('list/birds/fields?form=facet:kind');
    const form = its.page.getByRole('form', { name: 'Edit kind' });
    await form.getByRole('textbox', { name: 'Field' }).fill('sort');
    await change('/facet/default/birds/kind', { cardinality: 'Many' });
    await form.getByRole('button', { name: 'Save' }).click();
    await form.waitFor({ state: 'detached' });
    await expect
      .poll(async () => (await read()).facets)
      .toEqual([{ name: 'sort', type: 'string', cardinality: 'Many' }]);
  });

  it('show at once that a list was deleted in another tab, and when the window is looked at again, elsewhere', async () => {
    for (const name of ['gone', 'left']) await its.service.client.post('/list/default', { name });
    const missing = (name: string) => its.page.getByText(`There is no list '${name}'.`).waitFor();
    await its.visit('list/gone/records');
    await its.page.getByRole('heading', { name: 'gone' }).waitFor();
    const other = await its.page.context().newPage();
    await other.goto(`${its.service.address}/console/default/list/gone/settings`);
    await other.getByRole('button', { name: 'Delete list' }).click();
    await other.getByRole('dialog').getByRole('textbox').fill('gone');
    await other.getByRole('dialog').getByRole('button', { name: 'Delete list' }).click();
    await other.waitForURL(/\/lists$/);
    await missing('gone');
    await other.getByRole('link', { name: 'birds' }).waitFor();
    expect(await other.getByRole('link', { name: 'gone' }).count()).toBe(0);
    await other.close();

    await its.service.client.post('/list/default', { name: 'gone' });
    await its.page.getByRole('button', { name: 'Try again' }).click();
    await its.page.getByRole('heading', { name: 'gone' }).waitFor();

    await its.service.client.bulk('default', 'left', [{ name: 'one', title: 'One' }]);
    await its.visit('list/left/fields');
    await its.page.getByRole('heading', { name: 'left' }).waitFor();
    await its.service.client.delete('/list/default/left');
    await expect
      .poll(async () => {
        await lookAgain();
        return its.page.getByText("There is no list 'left'.").count();
      })
      .toBe(1);
  });

  it('to thousands of synonyms show a hundred of them, and any that is searched for', async () => {
    const rules = Array.from({ length: RULES }, (_, index) => ({
      kind: 'equivalent',
      terms: [`word${index}`, `term${index}`],
    }));
    await change('/list/synonyms/default/birds', { rules });
    await its.visit('list/birds/synonyms');
    const table = its.page.getByRole('table', { name: 'Synonyms' });
    await table.getByText('word5 = term5').waitFor();
    expect(await table.getByRole('row').count()).toBeLessThan(ROWS_MAX);
    await its.page.getByRole('textbox', { name: 'Find synonym' }).fill('WORD9998');
    await button('Remove word9998 = term9998').click();
    await its.page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await its.page.getByRole('dialog').waitFor({ state: 'detached' });
    const { rules: left } = (await its.service.client.get('/list/synonyms/default/birds')).body as { rules: unknown[] };
    expect(left).toEqual(rules.filter((_, index) => index !== 9998));
  });
});
