/** Tests pages about whole lists, and sessions, in a real browser: tasks are done, and refusals are reported. */
import { expect, it } from 'vitest';
import { openPage, settled, signIn, violationsOf } from '../support/browser.js';
import { describeConsole } from '../support/console.js';
import type { TestService } from '../support/service.js';

const LONG_LIST = `a${'very-long-'.repeat(6)}one`;
/** A name has at most 512 characters. */
const LONG_RECORD = `record-${'of-a-very-long-name-'.repeat(25)}`;

async function fill({ client }: TestService): Promise<void> {
  await client.post('/list/default', { name: 'birds', searchable_fields: [{ name: 'title' }] });
  await client.bulk('default', 'birds', [{ name: 'gannet', title: 'The northern gannet' }]);
  // The search box is shown only if there are many lists.
  for (let number = 0; number < 10; number += 1) await client.post('/list/default', { name: `more-${number}` });
  await client.post('/list/default', { name: LONG_LIST, searchable_fields: [{ name: 'title' }] });
  await client.bulk('default', LONG_LIST, [{ name: LONG_RECORD, title: LONG_RECORD.repeat(4) }]);
}

describeConsole('lists in the console', { fill }, (its) => {
  const button = (name: string) => its.page.getByRole('button', { name, exact: true });
  const dialog = (name: string) => its.page.getByRole('dialog', { name });

  it('are found by a part of their name, and sorted by a click on a column heading', async () => {
    await its.visit('lists');
    const table = its.page.getByRole('table', { name: 'Lists' });
    const find = its.page.getByLabel('Find list');
    await find.fill('nothing-like-this');
    await its.page.getByText('No matching lists.').waitFor();
    await find.fill('more-');
    const names = () => table.getByRole('rowheader').allInnerTexts();
    await expect.poll(async () => (await names())[0]).toBe('more-0');
    await table.getByRole('button', { name: 'Name' }).click();
    await table.getByRole('button', { name: 'Name' }).click();
    await table.getByRole('columnheader', { name: 'Name' }).and(its.page.locator('[aria-sort=descending]')).waitFor();
    expect(await names()).toEqual(Array.from({ length: 10 }, (_, number) => `more-${9 - number}`));
    expect(await violationsOf(its.page)).toEqual([]);
  });

  it('are created unless the name is taken', async () => {
    await its.visit('lists');
    await button('Create empty list').click();
    const form = dialog('Create empty list');
    await form.waitFor();
    // The form stays after a reload, and Back closes it.
    await its.page.reload();
    await form.waitFor();
    await its.page.goBack();
    await form.waitFor({ state: 'detached' });
    await its.page.goForward();
    await form.getByLabel('Name').fill('birds');
    await form.getByRole('button', { name: 'Create empty list' }).click();
    await form.getByText('Conflict').waitFor();
    await form.getByLabel('Name').fill('fish');
    await form.getByRole('button', { name: 'Create empty list' }).click();
    await its.page.waitForURL(/list\/fish\/fields/);
  });

  it('show how many records have a value that does not fit a facet', async () => {
    const { client } = its.service;
    await client.post('/list/default', { name: 'goods', searchable_fields: [{ name: 'title' }] });
    await client.bulk('default', 'goods', [
      { name: 'a', title: 'One', price: '12' },
      { name: 'b', title: 'Two', price: 'on request' },
    ]);
    await client.post('/facet/default/goods', { name: 'price', type: 'number' });
    await expect
      .poll(async () => (await client.get('/list/default/goods')).body)
      .toMatchObject({ current_version: 2, versions: [{ version: 1 }, { version: 2, unfit: { price: 1 } }] });
    await its.visit('list/goods/settings');
    await its.page.getByText('Version 2: 1 record has a value of “price” that did not fit').waitFor();
  });

  it('are checked, copied and deleted, and show an error if the service refuses', async () => {
    await its.visit('list/birds/settings');
    await its.page.route('**/list/default/birds/check', (route) => route.abort('connectionrefused'));
    await button('Check files').click();
    await its.page.getByText('No connection to the service').waitFor();
    await its.page.unroute('**/list/default/birds/check');
    await button('Check files').click();
    await its.page.getByText('No damage found.').waitFor();

    await button('Copy list').click();
    const copy = dialog('Copy list');
    await copy.getByLabel('Name of the copy').fill('more-1');
    await copy.getByRole('button', { name: 'Copy list' }).click();
    await copy.getByText('Conflict').waitFor();
    await copy.getByLabel('Name of the copy').fill('birds-copy');
    await copy.getByRole('button', { name: 'Copy list' }).click();
    await its.page.waitForURL(/list\/birds-copy\/search/);

    await its.visit('list/birds-copy/settings');
    await button('Delete list').click();
    const question = dialog('Delete list');
    const confirm = question.getByRole('button', { name: 'Delete list' });
    expect(await confirm.isDisabled(), 'its name has to be typed first').toBe(true);
    await question.getByLabel('Type birds-copy to confirm').fill('birds-copy');
    await its.page.route('**/list/default/birds-copy', (route) =>
      route.request().method() === 'DELETE' ? route.abort('connectionrefused') : route.continue(),
    );
    await confirm.click();
    await question.getByText('No connection to the service').waitFor();
    await its.page.unroute('**/list/default/birds-copy');
    await confirm.click();
    await its.page.waitForURL(/default\/lists/);
    expect((await its.service.client.get('/list/default/birds-copy')).status).toBe(404);
    expect((await its.service.client.get('/list/default/birds')).status).toBe(200);
  });

  it('fit on the screen of a phone even if their names are long', async () => {
    const phone = await openPage(its.browser, { viewport: { width: 375, height: 700 } });
    await signIn(its.service, phone);
    const { page } = phone;
    const seen = async (path: string): Promise<void> => {
      await page.goto(`${its.service.address}/console/default/${path}`);
      await page.getByText(LONG_LIST).first().waitFor();
      await settled(page);
      // A string, as these tests are not compiled for a browser.
      const overhang = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
      expect(overhang, path).toBeLessThanOrEqual(0);
    };
    await seen('');
    await seen('lists');
    await seen(`list/${LONG_LIST}/settings`);
    await seen(`list/${LONG_LIST}/records`);
    const name = page.getByRole('button', { name: /^record-/ });
    const { height = Infinity } = (await name.boundingBox()) ?? {};
    expect(height, 'a long name takes some lines of its table, and no more').toBeLessThan(120);
    await name.click();
    await page.getByRole('dialog', { name: 'Record' }).getByLabel('Fields').waitFor();
    await settled(page);
    expect(await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
    await phone.context.close();
  });
});

describeConsole('sessions in the console', { fill: () => Promise.resolve() }, (its) => {
  it('are ended from another session, and continue if ending them fails', async () => {
    const other = await openPage(its.browser, { userAgent: 'another browser' });
    await signIn(its.service, other);
    await its.visit('profile');
    const row = its.page.getByRole('row', { name: /another browser/ });
    await its.page.route('**/session/*', (route) =>
      route.request().method() === 'DELETE' ? route.abort('connectionrefused') : route.continue(),
    );
    await row.getByRole('button', { name: 'End session' }).click();
    await its.page.getByText('No connection to the service').waitFor();
    await other.page.goto(`${its.service.address}/console/default/lists`);
    await other.page.getByText('Create empty list').waitFor();
    await its.page.unroute('**/session/*');
    await row.getByRole('button', { name: 'End session' }).click();
    await row.waitFor({ state: 'detached' });
    await other.page.goto(`${its.service.address}/console/default/lists`);
    await other.page.getByLabel('Email').waitFor();
    await other.context.close();
  });
});
