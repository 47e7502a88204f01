/**
 * Tests refusals on pages whose main task other tests cover, in a real browser: the page says why, keeps what was
 * entered, and continues from there.
 */
import { expect, it } from 'vitest';
import { violationsOf } from '../support/browser.js';
import { describeConsole } from '../support/console.js';
import type { TestService } from '../support/service.js';

async function fill({ client }: TestService): Promise<void> {
  await client.post('/list/default', { name: 'birds', searchable_fields: [{ name: 'title' }] });
  await client.post('/search-result/default/birds', { name: 'gannet', fields: { title: 'The gannet' } });
  await client.post('/list-group/default', { name: 'sea', lists: [{ list: 'birds' }] });
}

describeConsole('requests that the service refuses', { fill }, (its) => {
  const button = (name: string) => its.page.getByRole('button', { name, exact: true });
  /** Refuses requests until the route is removed. */
  const refuse = (path: string, method: string, status: number, detail: string) =>
    its.page.route(path, (route) =>
      route.request().method() === method
        ? route.fulfill({
            status,
            contentType: 'application/problem+json',
            body: JSON.stringify({ type: 'about:blank', title: 'No', status, code: 'refused', detail }),
          })
        : route.fallback(),
    );

  it('let a person correct a taken name, and import the file later if the store was full', async () => {
    await its.visit('');
    const chooser = its.page.waitForEvent('filechooser');
    await button('Choose file').click();
    await (
      await chooser
    ).setFiles({
      name: 'birds.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from('name,title\ntern,A tern\nauk,An auk\n'),
    });
    await button('Create list and import').click();
    await its.page.getByText('Conflict').waitFor();
    const bulk = '**/search-result/default/shore-birds/bulk**';
    await refuse(bulk, 'POST', 507, 'No room is left.');
    await its.page.getByRole('textbox', { name: 'Name' }).fill('shore-birds');
    await button('Create list and import').click();
    await its.page.getByText('No room is left.').waitFor();
    expect(await violationsOf(its.page)).toEqual([]);
    await its.page.unroute(bulk);
    await button('Try again').click();
    await its.page.waitForURL(/list\/shore-birds\/search/);
    expect((await its.service.client.get('/list/default/shore-birds')).body).toMatchObject({ record_count: 2 });
  });

  it('keep the entered synonym until it can be saved', async () => {
    await its.visit('list/birds/synonyms');
    const form = its.page.getByRole('form', { name: 'Add synonym' });
    for (const term of ['gannet', 'solan']) {
      await form.getByRole('combobox', { name: 'Terms' }).fill(term);
      await form.getByRole('combobox', { name: 'Terms' }).press('Enter');
    }
    await refuse('**/list/synonyms/default/birds', 'PUT', 403, 'You may only look.');
    await form.getByRole('button', { name: 'Add synonym' }).click();
    await its.page.getByText('You may only look.').waitFor();
    expect(await violationsOf(its.page)).toEqual([]);
    await its.page.unroute('**/list/synonyms/default/birds');
    await form.getByRole('button', { name: 'Add synonym' }).click();
    await its.page.getByText('gannet = solan').waitFor();
  });

  it('show that another model has the same name', async () => {
    await its.visit('models');
    for (const expected of ['made', 'refused']) {
      await button('Add model').first().click();
      const form = its.page.getByRole('form', { name: 'Add model' });
      await form.getByLabel('Provider').selectOption('own');
      await form.getByLabel('Name').fill('three');
      await form.getByLabel('Dimensions').fill('3');
      await form.getByRole('button', { name: 'Add model' }).click();
      if (expected === 'made') await its.page.getByRole('rowheader', { name: 'three' }).waitFor();
      else await form.getByText('Conflict').waitFor();
    }
  });

  it('end for the search of a group when the connection is back', async () => {
    await its.page.route('**/search/group/default/sea/**', (route) => route.abort('connectionrefused'));
    await its.visit('group/sea?query=gannet');
    await its.page.getByText('No connection to the service').waitFor();
    await its.page.unroute('**/search/group/default/sea/**');
    await its.page.reload();
    await its.page.getByRole('link', { name: 'gannet', exact: true }).waitFor();
  });
});
