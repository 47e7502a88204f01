/**
 * Tests pages with large numbers of things: nothing long is sent, nothing is read that is not shown, and pages keep
 * responding.
 */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Browser, Locator, Page, Response, Route } from 'playwright-core';
import {
  CHROMIUM,
  NO_CHROMIUM,
  openPage,
  openPalette,
  signIn,
  startChromium,
  violationsOf,
} from '../support/browser.js';
import { pagesOf } from '../support/console-pages.js';
import { startTestService, type TestService } from '../support/service.js';
import { describeWhere } from '../support/skip.js';

const PAGES = pagesOf('texts');
const MEGABYTE = 1_000_000;
const LISTS = 10_000;
const LOGGED = 2_000;
const ENTRIES = 5_000;
const SHOWN_AT_ONCE = 100;
/** Pages of things that an account may have many of, with the member of the answer and the beginning of its path. */
const TABLES = [
  ['groups', 'groups', 'list-group'],
  ['keys', 'keys', 'api-key'],
  ['people', 'contributors', 'contributor'],
  ['webhooks', 'webhooks', 'webhook'],
  ['files', 'media_stores', 'media-store'],
  ['models', 'models', 'model'],
] as const;
const DAYS = 366;
describeWhere(CHROMIUM !== undefined, NO_CHROMIUM)('the console with much data', () => {
  let service: TestService;
  let browser: Browser;
  let page: Page;
  /** All that was transferred, by path. */
  const transferred: { readonly path: string; readonly bytes: number }[] = [];
  const visit = (path: string) => page.goto(`${service.address}/console/default/${path}`);

  beforeAll(async () => {
    [service, browser] = await Promise.all([startTestService(), startChromium()]);
    await service.client.post('/list/default', {
      name: 'texts',
      searchable_fields: [{ name: 'title' }],
      facets: [{ name: 'kind', type: 'string' }],
    });
    // Records of 2 kB, like articles.
    const text = 'The gannet dives for fish. '.repeat(75);
    const records = Array.from({ length: 5_000 }, (_, index) => ({ name: `text-${index}`, title: text, kind: 'bird' }));
    await service.client.bulk('default', 'texts', records);
    await service.client.post('/list-group/default', { name: 'all', lists: [{ list: 'texts' }] });
    await service.client.send('PUT', '/media/default/default/notes/first.txt', {
      bytes: 'Gannets dive.',
      headers: { 'Content-Type': 'text/plain' },
    });
    await service.client.post('/webhook', {
      account: 'default',
      url: 'https://example.com/',
      events: ['list.created'],
    });
    const open = await openPage(browser);
    ({ page } = open);
    page.on('response', (response) => {
      const path = new URL(response.url()).pathname;
      if (path.endsWith('/events')) return;
      const sent = response.request().postDataBuffer()?.byteLength ?? 0;
      response.body().then(
        (body) => transferred.push({ path, bytes: Math.max(sent, body.byteLength) }),
        () => undefined,
      );
    });
    await signIn(service, open);
  });
  afterAll(async () => {
    await browser.close();
    await service.close();
  });

  it('sends and requests nothing larger than a megabyte, on any page', async () => {
    for (const [path, text] of PAGES) {
      await visit(path);
      await page.getByText(text).first().waitFor();
    }
    const file = `name,title\n${Array.from({ length: 40_000 }, (_, index) => `row-${index},"Gannets dive, and dive again ${index}"`).join('\n')}\n`;
    expect(file.length).toBeGreaterThan(MEGABYTE);
    await visit('list/texts/records');
    const chooser = page.waitForEvent('filechooser');
    await page.getByRole('button', { name: 'Import file' }).click();
    await (await chooser).setFiles({ name: 'rows.csv', mimeType: 'text/csv', buffer: Buffer.from(file) });
    await page.getByText(/40,000 records imported/).waitFor();
    expect(transferred.length).toBeGreaterThan(PAGES.length);
    expect(transferred.filter(({ bytes }) => bytes > MEGABYTE)).toEqual([]);
  });

  it('finds one of 10,000 lists in the table, the palette, and the forms of keys and groups', async () => {
    const asked: string[] = [];
    const { body } = await service.client.get('/list/default');
    const [like] = (body as { lists: object[] }).lists;
    const names = Array.from({ length: LISTS }, (_, index) => `list-${String(index).padStart(5, '0')}`);
    const answer = (route: Route): Promise<void> => {
      const { searchParams } = new URL(route.request().url());
      asked.push(searchParams.get('after') ?? '');
      const first = Number(searchParams.get('after') ?? 0);
      const size = Number(searchParams.get('size'));
      const lists = names.slice(first, first + size).map((name) => ({ ...like, name }));
      const next = first + size < names.length ? { next: String(first + size) } : {};
      return route.fulfill({ json: { lists, ...next } });
    };
    // Leaves the page first, so that its requests are not counted.
    await page.goto('about:blank');
    await page.route(/\/list\/default(?:\?|$)/, answer);
    await visit('models');
    await page.getByText('Add model').waitFor();
    expect(asked, 'no page reads lists that it does not show').toEqual([]);
    await openPalette(page);
    await page.keyboard.type('list-09999: syn');
    await page.getByText('list-09999: Synonyms').waitFor();
    await page.keyboard.press('Escape');

    await visit('lists');
    await within(() => page.getByLabel('Find list').fill('list-09998'));
    await page.getByRole('link', { name: 'list-09998' }).waitFor();
    expect(await page.getByRole('row').count()).toBeLessThan(200);

    await visit('keys');
    await page.getByRole('button', { name: 'Create API key' }).click();
    const form = page.getByRole('form', { name: 'Create API key' });
    await form.getByLabel('Scope').selectOption('list');
    await within(() => form.getByRole('combobox', { name: 'One list' }).fill('list-0999'));
    await page.getByRole('option', { name: 'list-09997' }).click();
    expect(await form.getByRole('combobox', { name: 'One list' }).inputValue()).toBe('list-09997');

    await visit('groups');
    await page.getByRole('button', { name: 'Create group' }).click();
    await within(() => page.getByRole('combobox', { name: 'Lists' }).fill('list-09996'));
    await page.getByRole('option', { name: 'list-09996' }).click();
    expect(await page.getByRole('option').count()).toBeLessThanOrEqual(100);
    await page.unroute(/\/list\/default(?:\?|$)/);
  });

  it.each(TABLES)('shows a hundred of 5,000 in the table of %s, and finds each of them', async (path, member, like) => {
    const { body } = await service.control().get(`/${like}/default`);
    const [first = {}] = (body as Readonly<Record<string, object[]>>)[member] ?? [];
    const entries = Array.from({ length: ENTRIES }, (_, index) => {
      const name = `some-${String(index).padStart(4, '0')}`;
      const called =
        path === 'people' ? { email: name } : path === 'webhooks' ? { url: `https://${name}.test/` } : { name };
      return { ...first, id: name, ...called };
    });
    const asked: string[] = [];
    const noteLists = (request: { url: () => string }) => asked.push(new URL(request.url()).pathname);
    const listing = (url: URL) => url.pathname === `/${like}/default`;
    await page.goto('about:blank');
    page.on('request', noteLists);
    await page.route(listing, (route) => {
      if (route.request().method() !== 'GET') return route.continue();
      const { searchParams } = new URL(route.request().url());
      const from = Number(searchParams.get('after') ?? 0);
      const to = from + Number(searchParams.get('size') ?? ENTRIES);
      const next = to < ENTRIES ? { next: String(to) } : {};
      return route.fulfill({ json: { [member]: entries.slice(from, to), ...next } });
    });
    await visit(path);
    const table = page.getByRole('table').first();
    await table.getByText('some-0099').waitFor();
    expect(await table.getByRole('row').count()).toBe(1 + SHOWN_AT_ONCE);
    await page.getByRole('button', { name: 'Show more' }).press('Enter');
    await table.getByText('some-0199').waitFor();
    await within(() => page.getByLabel(/^Find /).fill('SOME-4998'));
    await table.getByText('some-4998').waitFor();
    expect(await table.getByRole('row').count()).toBe(2);
    // The search text stays in the URL, so that a reload finds the same row.
    await expect.poll(() => page.url()).toContain('find=SOME-4998');
    await page.reload();
    await table.getByText('some-4998').waitFor();
    expect(await table.getByRole('row').count()).toBe(2);
    await page.getByLabel(/^Find /).fill('nobody');
    await page.getByText('No matches.').waitFor();
    expect(asked, 'lists are read where they are shown alone').not.toContain('/list/default');
    page.off('request', noteLists);
    await page.unroute(listing);
  });

  it('pages back through 2,000 deliveries in a log, and reads none twice', async () => {
    const { body } = await service.client.post('/webhook', {
      account: 'default',
      url: 'https://example.com/hook',
      events: ['list.created'],
    });
    const { id } = body as { id: string };
    const asked: string[] = [];
    await page.route(`**/webhook/default/${id}/deliveries**`, (route) => {
      const { searchParams } = new URL(route.request().url());
      const before = Number(searchParams.get('before') ?? LOGGED);
      asked.push(String(before));
      const size = Math.min(Number(searchParams.get('size')), before);
      const attempts = Array.from({ length: size }, (_, index) => attemptOf(before - index));
      return route.fulfill({ json: { attempts, ...(before > size ? { next: before - size } : {}) } });
    });
    await visit(`webhooks?webhook=${id}`);
    const table = page.getByRole('table', { name: 'Deliveries' });
    await table.getByText(new RegExp(`answer ${LOGGED}$`)).waitFor();
    const box = page.getByRole('group', { name: 'Deliveries' });
    let rowsMost = 0;
    await within(() =>
      expect
        .poll(async () => {
          await scroll(box, 1);
          rowsMost = Math.max(rowsMost, await table.locator('tr').count());
          return table.getByText(/answer 1$/).count();
        })
        .toBe(1),
    );
    expect(await table.getAttribute('aria-rowcount')).toBe(String(LOGGED + 1));
    expect(rowsMost, 'rows that nobody sees are not in the page').toBeLessThan(60);
    await scroll(box, 0.5);
    await table.getByText(new RegExp(`answer ${LOGGED / 2}$`)).waitFor();
    // The first page is read again while it is the only one.
    expect(asked.filter((before) => before !== String(LOGGED))).toEqual([
      ...new Set(asked.filter((before) => before !== String(LOGGED))),
    ]);
    await page.unroute(`**/webhook/default/${id}/deliveries**`);
  });

  it('shows records of megabytes shortened in the table and when opened, and downloads them whole', async () => {
    await service.client.post('/list/default', { name: 'long', searchable_fields: [{ name: 'title' }] });
    const texts = ['short', 'x'.repeat(300_000), 'y'.repeat(300_000), `whole ${'z'.repeat(1_500_000)}`];
    for (const [index, title] of texts.entries()) {
      const fields = { name: `long-${index}`, fields: { title } };
      expect((await service.client.post('/search-result/default/long', fields)).status).toBe(201);
    }
    const asked: number[] = [];
    const measure = (response: Response): void => {
      if (!/\/search(?:-result)?\/default\/long[/?]/.test(response.url())) return;
      response.body().then(
        ({ byteLength }) => asked.push(byteLength),
        () => undefined,
      );
    };
    page.on('response', measure);
    await visit('list/long/search?size=1000');
    const hits = page.getByRole('list', { name: 'Hits' });
    await hits.getByText('Too long to show here: title').first().waitFor();
    expect(await hits.getByRole('listitem').count()).toBe(texts.length);
    await visit('list/long/records');
    await page.getByRole('button', { name: 'long-1' }).waitFor();
    await page.getByRole('link', { name: 'Next page' }).click();
    await page.getByRole('button', { name: 'long-2' }).waitFor();
    await page.getByRole('link', { name: 'Next page' }).click();
    await page.getByText(/1,?500,?\d{3} bytes, more than bytes_max/).waitFor();
    const row = page.getByRole('row').filter({ hasText: 'more than bytes_max' });
    await row.getByRole('button').click();
    const drawer = page.getByRole('dialog', { name: 'Record' });
    await drawer.getByText('Too long to show here: title').waitFor();
    expect(await violationsOf(page)).toEqual([]);
    // Saving keeps the fields that are not shown.
    await drawer.getByLabel('Fields').fill('{"note": "kept"}');
    await drawer.getByRole('button', { name: 'Save' }).click();
    await drawer.waitFor({ state: 'detached' });
    await expect.poll(() => asked.length).toBeGreaterThan(5);
    expect(Math.max(...asked)).toBeLessThan(MEGABYTE);
    page.off('response', measure);
    await row.getByRole('button').click();
    await expect.poll(() => drawer.getByLabel('Fields').innerText()).toContain('kept');
    const coming = page.waitForEvent('download');
    await drawer.getByRole('button', { name: 'Download record' }).click();
    const download = await coming;
    expect(download.suggestedFilename()).toBe('long-3.json');
    const { fields } = JSON.parse(await readFile(await download.path(), 'utf8')) as { fields: object };
    expect(fields).toEqual({ title: texts[3], note: 'kept' });
  });

  it('draws 366 days, and shows them as a table', async () => {
    const { body } = await service.client.get('/analytics/list/default/texts');
    const daily = Array.from({ length: DAYS }, (_, index) => ({
      ...((body as { daily: object[] }).daily[0] ?? { clicks: 0 }),
      date: new Date(Date.UTC(2026, 0, 1 + index)).toISOString().slice(0, 10),
      searches: 1_000 + index,
      zero_result_searches: index,
    }));
    const json = { ...(body as object), daily };
    expect(JSON.stringify(json).length).toBeLessThan(MEGABYTE);
    await page.route('**/analytics/list/default/texts**', (route) => route.fulfill({ json }));
    await visit('list/texts/analytics?days=366');
    await within(() => page.getByRole('img', { name: /Searches per day/ }).waitFor());
    await page.getByText('Show as table').click();
    await page.getByRole('rowheader', { name: '2027-01-01' }).waitFor();
    // Both series are drawn, each in its own colour.
    await expect.poll(() => page.evaluate<number>(COLOURS_DRAWN)).toBeGreaterThanOrEqual(2);
    await page.unroute('**/analytics/list/default/texts**');
  });

  /**
   * With `TEST_TIMES`, prints the longest task of the page in a step: how long it did not respond. Other load makes
   * it longer.
   */
  async function within(step: () => Promise<unknown>): Promise<void> {
    if (process.env['TEST_TIMES'] === undefined) {
      await step();
      return;
    }
    await page.evaluate(`(() => {
      window.longest = 0;
      window.observer?.disconnect();
      window.observer = new PerformanceObserver((list) => {
        for (const { duration } of list.getEntries()) window.longest = Math.max(window.longest, duration);
      });
      window.observer.observe({ type: 'longtask' });
    })()`);
    await step();
    await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))');
    process.stdout.write(
      `${expect.getState().currentTestName ?? ''}: ${await page.evaluate<number>('window.longest')} ms at once\n`,
    );
  }
});

/** Counts the colours that fill much of the chart. A string, as these tests are not compiled for a browser. */
const COLOURS_DRAWN = `(() => {
  const canvas = document.querySelector('.chart canvas');
  if (canvas === null) return 0;
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  const counts = new Map();
  for (let at = 0; at < data.length; at += 4) {
    if (data[at + 3] < 255) continue;
    const colour = data[at] * 65536 + data[at + 1] * 256 + data[at + 2];
    counts.set(colour, (counts.get(colour) ?? 0) + 1);
  }
  return [...counts.values()].filter((count) => count > 2000).length;
})()`;

/** Scrolls to a share of the content. */
async function scroll(box: Locator, share: number): Promise<void> {
  await box.evaluate((element, to) => {
    const scrolled = element as unknown as { scrollTop: number; readonly scrollHeight: number };
    scrolled.scrollTop = scrolled.scrollHeight * to;
  }, share);
}

function attemptOf(number: number) {
  return {
    delivery: `delivery-${number}`,
    event: 'list.created',
    attempt: 1,
    at_utc: new Date(Date.UTC(2026, 0, 1) + number * 1000).toISOString(),
    duration_ms: 12,
    status: 200,
    error: null,
    answer: `answer ${number}`,
    outcome: 'delivered',
  };
}
