/** Tests long tables: finding rows, forms of rows, and where the focus goes. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Browser, Page } from 'playwright-core';
import { CHROMIUM, NO_CHROMIUM, openPage, signIn, startChromium } from '../support/browser.js';
import { startTestService, type TestService } from '../support/service.js';
import { describeWhere } from '../support/skip.js';

const GROUPS = 130;

describeWhere(CHROMIUM !== undefined, NO_CHROMIUM)('tables with a search box in the console', () => {
  let service: TestService;
  let browser: Browser;
  let page: Page;
  const visit = (path: string) => page.goto(`${service.address}/console/default/${path}`);

  beforeAll(async () => {
    [service, browser] = await Promise.all([startTestService(), startChromium()]);
    await service.client.post('/list/default', { name: 'texts', searchable_fields: [{ name: 'title' }] });
    for (let index = 0; index < GROUPS; index += 1) {
      const name = `g${String(index).padStart(3, '0')}`;
      const { status } = await service.client.post('/list-group/default', { name, lists: [{ list: 'texts' }] });
      expect(status).toBe(201);
    }
    const open = await openPage(browser);
    ({ page } = open);
    await signIn(service, open);
  });
  afterAll(async () => {
    await browser.close();
    await service.close();
  });

  it('show that there are no matches, and keep the search box and its focus when others are searched for', async () => {
    await visit('keys?find=zzz');
    await page.getByText('No matches.').waitFor();
    await page.getByLabel(/^Find /).press('Control+a');
    await page.getByLabel(/^Find /).press('Delete');
    await page.getByRole('table').getByRole('row').nth(1).waitFor();
    expect(await page.getByLabel(/^Find /).evaluate((element) => element.matches(':focus'))).toBe(true);
    expect(await page.getByText('No matches.').count()).toBe(0);
  });

  it("move the focus to the first new row after Show more, and keep any row's form after a reload", async () => {
    await visit('groups');
    const table = page.getByRole('table', { name: 'Groups' });
    await page.getByRole('button', { name: 'Show more' }).press('Enter');
    await table.getByText('g129').waitFor();
    expect(await table.locator('tr:focus').innerText()).toContain('g100');
    await page.getByRole('button', { name: 'Edit g125' }).click();
    await page.getByRole('dialog').waitFor();
    await page.reload();
    await page.getByRole('dialog', { name: 'Edit g125' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await table.getByRole('row').count()).toBe(1 + 100 + 1);
  });

  it.each([
    ['groups', 'Create group'],
    ['keys', 'Create API key'],
  ])('show in the form of %s that the lists cannot be read', async (path, button) => {
    const lists = /\/list\/default(?:\?|$)/;
    const problem = { type: 'about:blank', title: 'Conflict', status: 409, detail: 'The lists cannot be read now.' };
    await page.route(lists, (route) =>
      route.fulfill({ status: 409, contentType: 'application/problem+json', body: JSON.stringify(problem) }),
    );
    await visit(path);
    await page.getByRole('button', { name: button }).click();
    const form = page.getByRole('form', { name: button });
    if (path === 'keys') await form.getByLabel('Scope').selectOption('list');
    await form.getByRole('alert').getByText('The lists cannot be read now.').waitFor();
    await page.unroute(lists);
  });
});
