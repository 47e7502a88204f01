/**
 * Tests the page that README offers for the search of a shop: unchanged, on another origin, with the kind of API key
 * that it names.
 */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Browser, Page } from 'playwright-core';
import { CHROMIUM, NO_CHROMIUM, openPage, startChromium, violationsOf } from '../support/browser.js';
import type { ScriptedServer } from '../support/scripted-server.js';
import { startFileServer } from '../support/served-files.js';
import { startTestService, type TestService } from '../support/service.js';
import { describeWhere } from '../support/skip.js';

const SOURCE = readFileSync(new URL('../../docs/search-page.html', import.meta.url), 'utf8');
const SAMPLE = readFileSync(new URL('../../docs/search-page.csv', import.meta.url));
const GOODS = 30;

describeWhere(CHROMIUM !== undefined, NO_CHROMIUM)('the search page of a shop', () => {
  let service: TestService;
  let browser: Browser;
  let shop: ScriptedServer;
  let page: Page;
  const files = new Map<string, Uint8Array>();
  const hits = () => page.locator('#hits li');
  const status = (text: string) => page.locator('#status').getByText(text, { exact: true }).waitFor();

  beforeAll(async () => {
    shop = await startFileServer(files);
    const origin = new URL(shop.url()).origin;
    [service, browser] = await Promise.all([
      startTestService({ env: { GANNET_SERVER_CORS_ORIGINS: origin } }),
      startChromium(),
    ]);
    await service.client.post('/list/default', {
      name: 'products',
      searchable_fields: [{ name: 'title' }, { name: 'description' }],
      facets: [
        { name: 'brand', type: 'string' },
        { name: 'category', type: 'string' },
        { name: 'maker', type: 'string' },
        { name: 'price', type: 'number' },
        { name: 'rating', type: 'number' },
        { name: 'in_stock', type: 'boolean' },
      ],
    });
    const goods = Array.from({ length: GOODS }, (_, index) => ({
      name: `S-${index}`,
      title: `Jacket ${index}`,
      description: 'Warm <b>&</b> dry',
      brand: index % 3 === 0 ? "O'Neil" : 'Petrel',
      category: index % 2 === 0 ? 'Jackets' : 'Tents',
      maker: index === 7 ? "Émile d'Or" : `Maker ${String(index).padStart(2, '0')}`,
      price: 100 - index,
      rating: (index % 3) + 0.5,
      in_stock: index % 5 !== 0,
    }));
    await service.client.bulk('default', 'products', goods);
    await service.client.post('/list/default', { name: 'sample' });
    await service.client.bulk('default', 'sample', SAMPLE, 'text/csv');
    const { key: sampleKey } = await service.createKey({ name: 'sample', access: 'search-and-read' });
    const { key } = await service.createKey({
      name: 'page',
      access: 'search-and-read',
      scope: 'list',
      scope_target: 'products',
    });
    const filled = SOURCE.replace('http://127.0.0.1:8400', service.address).replace('gnt_...', key);
    files.set('/search.html', Buffer.from(filled));
    files.set(
      '/sample.html',
      Buffer.from(filled.replace(key, sampleKey).replace("list: 'products'", "list: 'sample'")),
    );
    files.set('/values.html', Buffer.from(filled.replace("['brand', 'category']", "['rating', 'in_stock']")));
    files.set('/makers.html', Buffer.from(filled.replace("['brand', 'category']", "['maker', 'price']")));
    files.set('/keyless.html', Buffer.from(filled.replace(key, 'gnt_eu_none')));
    page = (await openPage(browser)).page;
  });
  afterAll(async () => {
    await browser.close();
    await Promise.all([service.close(), shop.close()]);
  });

  it('finds unfinished and misspelt words, shows texts unchanged, and loads more hits', async () => {
    await page.goto(shop.url('/search.html'));
    await status('30 found');
    const field = page
      .getByRole('searchbox')
      .or(page.getByRole('combobox', { name: 'Search' }))
      .first();
    // The wait lets nothing get lost between two letters.
    await field.fill('jac');
    await page.locator('#hits li em').first().getByText('Jacket').waitFor();
    await field.fill('jaket 7');
    await page.locator('#hits li').first().getByText('Jacket 7').waitFor();
    expect(await hits().first().locator('em').allInnerTexts()).toContain('Jacket');
    expect(await hits().first().locator('p').first().innerText()).toBe('Warm <b>&</b> dry');
    await page.goto(shop.url('/search.html'));
    await expect.poll(() => hits().count()).toBe(20);
    await page.getByRole('button', { name: 'Show more' }).click();
    await expect.poll(() => hits().count()).toBe(GOODS);
    await page.getByRole('button', { name: 'Show more' }).waitFor({ state: 'hidden' });
    expect(await violationsOf(page)).toEqual([]);
  });

  it('explains how to allow its origin if the service does not', async () => {
    const other = shop.url('/search.html').replace('127.0.0.1', 'localhost');
    await page.goto(other);
    const told = `GANNET_SERVER_CORS_ORIGINS=${new URL(other).origin}`;
    await page.locator('#status').getByText(told).waitFor();
    expect(await page.locator('#status').innerText()).toMatch(
      /^The search failed\. http:\S+ gives no answer to this page\./,
    );
  });

  it('has a sample list to try, with fields as in its settings', async () => {
    await page.goto(shop.url('/sample.html'));
    await status('8 found');
    await page.getByLabel('Tents (2)').check();
    await status('2 found');
    await page.getByLabel('Tents (2)').uncheck();
    await page.getByLabel('Order').selectOption({ label: 'Lowest price' });
    await hits().first().getByText('Steel bottle Auk').waitFor();
  });

  it("keeps the site's own parts of the URL", async () => {
    await page.goto(shop.url('/search.html?page_id=7#top'));
    await page.getByLabel("O'Neil (10)").check();
    await status('10 found');
    await expect.poll(() => page.url()).toBe(shop.url('/search.html?page_id=7&brand=%22O%27Neil%22#top'));
    await page.getByLabel("O'Neil (10)").uncheck();
    await status('30 found');
    await expect.poll(() => page.url()).toBe(shop.url('/search.html?page_id=7#top'));
  });

  it('cancels suggestions for earlier text, so that a late answer does not replace newer ones', async () => {
    await page.goto(shop.url('/search.html'));
    await status('30 found');
    const late: (() => void)[] = [];
    await page.route('**/suggest/**', async (route) => {
      if (late.length > 0) return route.continue();
      await new Promise<void>((end) => late.push(end));
      await route.abort().catch(() => undefined);
    });
    const input = page.locator('input[name=query]');
    await input.fill('jack');
    await expect.poll(() => late.length).toBe(1);
    const dropped = page.waitForEvent('requestfailed', (request) => request.url().includes('/suggest/'));
    await input.fill('jacket 1');
    await dropped;
    await expect.poll(() => page.locator('#suggestions option').count()).toBeGreaterThan(0);
    for (const end of late) end();
    await page.unrouteAll({ behavior: 'wait' });
  });

  it('filters by facets and sorts, and keeps both after a reload', async () => {
    await page.goto(shop.url('/search.html'));
    await page.getByLabel("O'Neil (10)").check();
    await status('10 found');
    // Another brand can be chosen as well.
    await page.getByLabel('Petrel (20)').check();
    await status('30 found');
    await page.getByLabel('Petrel (20)').uncheck();
    await status('10 found');
    await page.getByLabel('Tents (5)').check();
    await status('5 found');
    await page.reload();
    await status('5 found');
    expect(await page.getByLabel("O'Neil (5)").isChecked()).toBe(true);
    await page.getByLabel('Order').selectOption({ label: 'Lowest price' });
    await hits().first().getByText('Jacket 27').waitFor();
    await page.reload();
    await hits().first().getByText('Jacket 27').waitFor();
    expect(await page.getByLabel('Order').inputValue()).toBe('price asc');
  });

  it('filters by numbers and booleans, and ignores a URL with wrong values', async () => {
    await page.goto(shop.url('/values.html?rating=7x&rating={}'));
    await page.getByLabel('0.5 (10)').check();
    await status('10 found');
    await page.getByLabel('true (8)').check();
    await status('8 found');
    await page.reload();
    await status('8 found');
    expect(await page.getByLabel('true (8)').isChecked()).toBe(true);
    await page.goto(shop.url('/search.html'));
    await status('30 found');
  });

  it('finds values of a facet beyond the most frequent ones, which can be chosen and stay chosen', async () => {
    await page.goto(shop.url('/makers.html'));
    await status('30 found');
    const maker = page.getByRole('group', { name: 'maker' });
    const box = maker.getByRole('searchbox', { name: 'Find in maker' });
    await expect.poll(() => maker.getByRole('checkbox').count()).toBe(10);
    // Numbers have no words to find, and facets with few values need no box.
    expect(await page.getByRole('group', { name: 'price' }).getByRole('searchbox').count()).toBe(0);
    await page.goto(shop.url('/search.html'));
    await status('30 found');
    expect(await page.getByRole('searchbox', { name: /^Find in/ }).count()).toBe(0);

    await page.goto(shop.url('/makers.html'));
    await status('30 found');
    await box.pressSequentially('d emile');
    await maker.getByLabel("Émile d'Or (1)").waitFor();
    await expect.poll(() => maker.getByRole('checkbox').count()).toBe(1);
    expect(await box.evaluate((element) => element.matches(':focus'))).toBe(true);
    expect(await violationsOf(page)).toEqual([]);
    await maker.getByLabel("Émile d'Or (1)").check();
    await status('1 found');
    // The hits are those of the search, whatever is typed among the values.
    await box.fill('zzz');
    await maker.getByText('No matches.').waitFor();
    expect(await hits().count()).toBe(1);
    await box.fill('');
    await maker.getByLabel("Émile d'Or").waitFor();
    expect(await maker.getByLabel("Émile d'Or").isChecked()).toBe(true);
    await page.reload();
    await status('1 found');
    // Not uncheck(), which looks at the box again: the value is gone with the choice, as the most frequent ones are shown.
    await maker.getByLabel("Émile d'Or").click();
    await status('30 found');
  });

  it('counts clicks, and shows an error in place of hits', async () => {
    await hits().first().getByRole('link').click();
    await expect
      .poll(async () => (await service.client.get('/analytics/list/default/products')).body)
      .toMatchObject({ total_clicks: 1 });
    await page.goto(shop.url('/keyless.html'));
    await page.getByText(/^The search failed\. .*key/i).waitFor();
  });
});
