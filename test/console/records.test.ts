/**
 * Tests records of a list in a real browser: changed, imported with errors and exported; and the progress of a
 * version that a change builds.
 */
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { openPage, settled, signIn, signInAs, violationsOf } from '../support/browser.js';
import { describeConsole } from '../support/console.js';
import type { TestService } from '../support/service.js';

const RECORDS = 2_500;

async function fill({ client }: TestService): Promise<void> {
  await client.post('/list/default', { name: 'birds', searchable_fields: [{ name: 'title' }] });
  const records = Array.from({ length: RECORDS }, (_, index) => ({
    name: `bird-${index}`,
    title: `Bird no. ${index}`,
  }));
  await client.bulk('default', 'birds', records);
}

/** Checks that nothing of the page is beyond its right edge. */
async function fits(page: Page): Promise<void> {
  await settled(page);
  // A string, as these tests are not compiled for a browser.
  expect(await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
}

interface Line {
  readonly name: string;
  readonly fields: { readonly title: string };
}

describeConsole('records in the console', { fill }, (its) => {
  const button = (name: string) => its.page.getByRole('button', { name, exact: true });

  it('are changed, and keep their values if the service refuses', async () => {
    await its.visit('list/birds/records');
    await button('bird-0').click();
    const drawer = its.page.getByRole('dialog', { name: 'Record' });
    await drawer.getByLabel('Fields').fill('{"title": "The first gannet"}');
    await its.page.route('**/search-result/default/birds/*', (route) =>
      route.request().method() === 'PUT' ? route.abort('connectionrefused') : route.continue(),
    );
    await drawer.getByRole('button', { name: 'Save' }).click();
    await drawer.getByText('No connection to the service').waitFor();
    expect(await drawer.getByLabel('Fields').innerText()).toContain('The first gannet');
    expect(await violationsOf(its.page)).toEqual([]);
    await its.page.unroute('**/search-result/default/birds/*');
    await drawer.getByRole('button', { name: 'Save' }).click();
    await drawer.waitFor({ state: 'detached' });
    await its.page.getByRole('cell', { name: 'The first gannet' }).waitFor();
    await button('bird-0').and(its.page.locator(':focus')).waitFor();
  });

  it('are edited as JSON, with errors by line, and Tab moves into and out of the editor', async () => {
    await its.visit('list/birds/records?add=true');
    const drawer = its.page.getByRole('dialog', { name: 'Add record' });
    const editor = drawer.getByRole('textbox', { name: 'Fields' });
    await editor.fill('{\n  "title": "A tern",\n  "size": \n}');
    await drawer.getByText(/^Line 4: /).waitFor();
    expect(await violationsOf(its.page)).toEqual([]);
    await drawer.getByRole('textbox', { name: 'Name' }).focus();
    await its.page.keyboard.press('Tab');
    await drawer.locator('.cm-content:focus').waitFor();
    await its.page.keyboard.press('Tab');
    await drawer.getByRole('button', { name: 'Add record' }).and(its.page.locator(':focus')).waitFor();
    await drawer.getByText(/^Line 4: /).waitFor();
    // A browser that joins lines keeps their styles, such as those of matching brackets and marked errors.
    for (let time = 0; time < 10; time += 1) {
      await editor.fill('{"title": "A tern"}');
      await editor.fill('{\n  "title": "A tern",\n  "size": \n}');
      await drawer.getByText(/^Line 4: /).waitFor();
    }
    await editor.fill('{"title": "A tern"}');
    await drawer.getByText(/^Line /).waitFor({ state: 'detached' });
    expect(await editor.innerText()).toBe('{"title": "A tern"}');
    await its.page.keyboard.press('Escape');
    await drawer.waitFor({ state: 'detached' });
    expect(its.open.complaints, 'the policy of the page lets in what the editor brings').toEqual([]);
  });

  it('are added by URL on a phone, and can be read there without permission to write', async () => {
    const phone = { viewport: { width: 375, height: 700 } };
    const owner = await openPage(its.browser, phone);
    await signIn(its.service, owner);
    const address = `${its.service.address}/console/default/list/birds/records`;
    await owner.page.goto(`${address}?add=true`);
    const form = owner.page.getByRole('dialog', { name: 'Add record' });
    await form.getByRole('textbox', { name: 'Name' }).fill('guillemot');
    await form.getByRole('textbox', { name: 'Fields' }).fill('{"title": "A guillemot"}');
    await fits(owner.page);
    await form.getByRole('button', { name: 'Add record' }).click();
    await form.waitFor({ state: 'detached' });
    const { body } = await its.service.client.post('/search/default/birds/1', { query: 'guillemot' });
    const [{ id } = { id: '' }] = (body as { results: readonly { id: string }[] }).results;
    await owner.context.close();

    const viewer = await openPage(its.browser, phone);
    await signInAs(its.service, viewer, 'viewer');
    await viewer.page.goto(`${address}?record=${id}`);
    const record = viewer.page.getByRole('dialog', { name: 'Record' });
    const editor = record.getByRole('textbox', { name: 'Fields' });
    await editor.and(viewer.page.locator('[aria-readonly=true]')).waitFor();
    await fits(viewer.page);
    await editor.focus();
    await viewer.page.keyboard.type('not written');
    await viewer.page.keyboard.press('Backspace');
    expect(JSON.parse(await editor.innerText())).toEqual({ title: 'A guillemot' });
    expect(await record.getByRole('textbox', { name: 'Name' }).getAttribute('readonly')).not.toBe(null);
    for (const name of ['Save', 'Delete record']) expect(await record.getByRole('button', { name }).count()).toBe(0);
    expect(await violationsOf(viewer.page)).toEqual([]);
    // The URL does not give permission to write.
    await viewer.page.goto(`${address}?add=true`);
    await viewer.page.getByRole('button', { name: 'bird-0' }).waitFor();
    expect(await viewer.page.getByRole('dialog').count()).toBe(0);
    await viewer.context.close();
    await its.service.client.delete(`/search-result/default/birds/${id}`);
  });

  it('are exported completely into a file, or with an error if that is interrupted', async () => {
    await its.visit('list/birds/records');
    await its.page.route('**/search-result/default/birds?*after*', (route) => route.abort('connectionrefused'));
    await button('Export').click();
    await its.page.getByRole('alert').waitFor();
    await its.page.unroute('**/search-result/default/birds?*after*');
    const coming = its.page.waitForEvent('download');
    await button('Export').click();
    const download = await coming;
    expect(download.suggestedFilename()).toBe('birds.ndjson');
    const lines = (await readFile(await download.path(), 'utf8')).trimEnd().split('\n');
    const records = lines.map((line) => JSON.parse(line) as Line);
    expect(records).toHaveLength(RECORDS);
    expect(new Set(records.map(({ name }) => name)).size).toBe(RECORDS);
    expect(records.find(({ name }) => name === 'bird-0')?.fields.title).toBe('The first gannet');
  });

  it('are imported except for invalid lines, which are named', async () => {
    await its.visit('list/birds/records');
    const take = async (name: string, text: string): Promise<void> => {
      const chooser = its.page.waitForEvent('filechooser');
      await button('Import file').click();
      await (await chooser).setFiles({ name, mimeType: 'text/plain', buffer: Buffer.from(text) });
    };
    await take('birds.txt', 'gannet');
    await its.page.getByText('birds.txt is not a supported file').waitFor();
    await its.page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click();
    await take('more.ndjson', '{"name":"puffin","title":"A puffin"}\n{"name":\n{"name":"auk","title":"An auk"}\n');
    await its.page.getByText('2 records imported, 1 refused.').waitFor();
    await its.page
      .getByRole('dialog')
      .getByText(/^Line 2: /)
      .waitFor();
    expect(await violationsOf(its.page)).toEqual([]);
  });

  it('are built into the next version, whose progress is shown', async () => {
    const { body } = await its.service.client.get('/list/default/birds');
    const list = body as { readonly versions: readonly object[] };
    const building = { ...list.versions[0], version: 2, state: 'building', record_count: 1_000 };
    await its.page.route(/\/list\/default\/birds$/, (route) =>
      route.fulfill({ json: { ...list, versions: [...list.versions, building] } }),
    );
    await its.visit('list/birds/fields');
    await its.page.getByText('Building version 2: 1,000 of 2,502').waitFor();
    await its.visit('list/birds/settings');
    await its.page.getByRole('row', { name: /^2 Building 1,000/ }).waitFor();
    // The page updates without a reload.
    await its.page.unroute(/\/list\/default\/birds$/);
    await its.page.getByText('Building version 2').waitFor({ state: 'detached' });
  });

  it('show six fields in a window, and are scrolled sideways on a phone', async () => {
    const names = ['title', 'summary', 'author', 'category', 'price', 'published'];
    await its.service.client.post('/list/default', {
      name: 'wide',
      searchable_fields: names.map((name) => ({ name })),
    });
    const fields = Object.fromEntries(names.map((name) => [name, 'Gannets dive for fish from thirty metres']));
    await its.service.client.post('/search-result/default/wide', { name: 'gannet', fields });
    await its.visit('list/wide/records');
    const box = its.page.locator('.wide');
    await box.getByText('gannet', { exact: true }).waitFor();
    await settled(its.page);
    // A string, as these tests are not compiled for a browser.
    const hidden = () =>
      its.page.evaluate<number>(
        "(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('.wide'))",
      );
    expect(await hidden()).toBe(0);
    await its.page.setViewportSize({ width: 375, height: 700 });
    await expect.poll(hidden).toBeGreaterThan(0);
    await box.focus();
    await its.page.keyboard.press('ArrowRight');
    await expect.poll(() => its.page.evaluate<number>("document.querySelector('.wide').scrollLeft")).toBeGreaterThan(0);
    expect(await violationsOf(its.page)).toEqual([]);
    await its.page.setViewportSize({ width: 1280, height: 860 });
  });
});
