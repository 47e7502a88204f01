/** Tests every page of the console in a real browser: its task, its errors, and accessibility. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Browser, Page } from 'playwright-core';
import {
  CHROMIUM,
  goOn,
  NO_CHROMIUM,
  openPage,
  openPalette,
  settled,
  signIn,
  signInAs,
  startChromium,
  violationsOf,
  type OpenPage,
} from '../support/browser.js';
import { pagesOf } from '../support/console-pages.js';
import { startTestService, type TestService } from '../support/service.js';
import { describeWhere } from '../support/skip.js';

const PAGES = pagesOf('birds');

describeWhere(CHROMIUM !== undefined, NO_CHROMIUM)('pages of the console', () => {
  let service: TestService;
  let browser: Browser;
  let open: OpenPage;
  let page: Page;
  const visit = (path: string) => page.goto(`${service.address}/console/default/${path}`);
  async function loadPage(path: string, text: string): Promise<void> {
    await visit(path);
    await page.getByText(text).first().waitFor();
  }
  async function goOnToPage(path: string, text: string): Promise<void> {
    await page.evaluate<void>('window.shift = 0');
    await goOn(page, `/console/default/${path}`, text);
  }

  beforeAll(async () => {
    // These tests connect only to this machine, so that sources of feeds may be on it.
    const env = { GANNET_OUTBOUND_LOOPBACK_ALLOWED: 'true' };
    [service, browser] = await Promise.all([startTestService({ env }), startChromium()]);
    await fill(service);
    open = await openPage(browser);
    ({ page } = open);
    await page.addInitScript(COUNT_SHIFTS);
    await signIn(service, open);
  });
  afterAll(async () => {
    await browser.close();
    await service.close();
  });

  // Each page is loaded once, and once opened from another page.
  it.each([
    ['light', loadPage],
    ['dark', goOnToPage],
  ] as const)(
    'have no accessibility violations with %s colours, and do not move while they load',
    async (colorScheme, come) => {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      const found: Record<string, unknown> = {};
      for (const [path, text] of PAGES) {
        await come(path, text);
        const violations = await violationsOf(page);
        if (violations.length > 0) found[path] = violations;
        const shift = await page.evaluate<number>('window.shift');
        if (shift > SHIFT_MAX) found[`${path} moves while it is read`] = shift;
      }
      expect(found).toEqual({});
      expect(open.complaints).toEqual([]);
    },
  );

  it('show the sign-in page first, and then the requested page', async () => {
    const other = await openPage(browser);
    await service.control().post('/contributor/default/link', { email: 'ann@example.com', role: 'viewer' });
    await other.page.goto(`${service.address}/console/default/list/birds/search?query=gannet`);
    await other.page.getByLabel('Email').waitFor();
    expect(await violationsOf(other.page)).toEqual([]);
    await other.page.getByLabel('Email').fill('ann@example.com');
    await other.page.getByRole('textbox', { name: 'Password' }).fill('not the password');
    await other.page.getByRole('button', { name: 'Sign in' }).click();
    await other.page.getByText('Wrong email or password. Check both, then try again.').waitFor();
    expect(other.page.url()).toContain('/sign-in');
    await other.context.close();
  });

  it('hide from a viewer what a viewer may not do', async () => {
    const other = await openPage(browser);
    await signInAs(service, other, 'viewer');
    await other.page.goto(`${service.address}/console/default/list/birds/records`);
    await other.page.getByRole('button', { name: 'bird-1' }).first().waitFor();
    for (const name of ['Add record', 'Import file', 'Delete by filter…']) {
      expect(await other.page.getByRole('button', { name }).count(), name).toBe(0);
    }
    await goOn(other.page, '/console/default/', 'Open one of the lists.');
    await goOn(other.page, '/console/default/webhooks', 'No webhooks yet.');
    expect(await other.page.getByText('Create one').count()).toBe(0);
    await other.context.close();
  });

  it('create a record, change it and delete it', async () => {
    await visit('list/birds/records');
    await page.getByRole('button', { name: 'Add record' }).click();
    await page.getByLabel('Fields').fill('{"title": ');
    await page.getByRole('textbox', { name: 'Name' }).fill('new-bird');
    const add = page.getByRole('dialog').getByRole('button', { name: 'Add record' });
    await add.click();
    await page.getByText('This is not JSON').waitFor();
    await page.getByLabel('Fields').fill('{"title": "A new bird"}');
    await add.click();
    await page.getByRole('button', { name: 'new-bird' }).click();
    await page.getByRole('button', { name: 'Delete record' }).click();
    await page.getByRole('dialog', { name: 'Delete record' }).getByRole('button', { name: 'Delete record' }).click();
    await expect.poll(() => page.getByRole('button', { name: 'new-bird' }).count()).toBe(0);
  });

  it('preview what a synonym would find before it is saved', async () => {
    await visit('list/birds/synonyms');
    const terms = page.getByRole('combobox', { name: 'Terms' });
    await terms.fill('gannet');
    await terms.press('Enter');
    await terms.fill('puffin');
    await terms.press('Enter');
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.getByRole('table', { name: 'Preview' }).waitFor();
    expect((await service.client.get('/list/synonyms/default/birds')).body).toEqual({ rules: [] });
    await page.getByRole('button', { name: 'Add synonym' }).click();
    await page.getByText('gannet = puffin').waitFor();
    await page.getByRole('button', { name: 'Remove gannet = puffin' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByText('No synonyms yet. Add one, or get suggestions from searches and records.').waitFor();
    await page.locator('#content:focus').waitFor();
  });

  it('suggest synonyms, and save none before a person does', async () => {
    await service.client.post('/list/default', { name: 'papers', searchable_fields: [{ name: 'text' }] });
    await service.client.bulk('default', 'papers', [
      { name: 'p1', text: 'We study magnetic resonance imaging (MRI) of the human brain.' },
      { name: 'p2', text: 'The MRI of 2004 was cold.' },
    ]);
    await visit('list/papers/synonyms');
    await page.getByRole('button', { name: 'Suggest synonyms' }).click();
    const terms = 'MRI = magnetic resonance imaging';
    const suggested = page.getByRole('table', { name: 'Suggest synonyms' });
    await suggested.getByRole('rowheader', { name: terms }).waitFor();
    await suggested.getByText('1 record says what “MRI” stands for').waitFor();
    expect(await violationsOf(page)).toEqual([]);
    const rules = async () => (await service.client.get('/list/synonyms/default/papers')).body;
    expect(await rules()).toEqual({ rules: [] });
    await page.getByRole('button', { name: `Review ${terms}` }).click();
    await page.getByRole('combobox', { name: 'Terms' }).and(page.locator(':focus')).waitFor();
    await page.getByRole('form', { name: 'Add synonym' }).getByRole('button', { name: 'Add synonym' }).click();
    await page.getByRole('button', { name: `Remove ${terms}` }).waitFor();
    expect(await rules()).toEqual({ rules: [{ kind: 'equivalent', terms: ['MRI', 'magnetic resonance imaging'] }] });
    await page.getByRole('button', { name: 'Suggest synonyms' }).click();
    await page.getByText('No suggestions: no searches').waitFor();
    await service.client.delete('/list/default/papers');
  });

  it('add a facet, and show an error if the name exists', async () => {
    await visit('list/birds/fields');
    for (const expected of ['added', 'refused']) {
      await page.getByRole('button', { name: 'Add facet' }).click();
      await page.getByRole('textbox', { name: 'Field' }).fill('size');
      await page.getByRole('dialog').getByRole('button', { name: 'Add facet' }).click();
      if (expected === 'refused') await page.getByText('Conflict').waitFor();
      else await page.getByRole('dialog').waitFor({ state: 'detached' });
    }
  });

  it('show a new API key once', async () => {
    await visit('keys');
    await page.getByRole('button', { name: 'Create API key' }).click();
    const form = page.getByRole('form', { name: 'Create API key' });
    await form.getByLabel('Name').fill('shop');
    await form.getByLabel('Custom permissions').check();
    await form.getByRole('group', { name: 'search-result' }).getByLabel('read').check();
    await form.getByRole('button', { name: 'Create API key' }).click();
    const secret = await page.locator('[data-secret]').innerText();
    expect((await service.clientWith(secret).get('/list/default/birds')).status).toBe(403);
    expect((await service.clientWith(secret).post('/search/default/birds/1', {})).status).toBe(200);
    await page.reload();
    await page.getByRole('rowheader', { name: 'shop' }).waitFor();
    expect(await page.getByText(secret).count()).toBe(0);
    await page.getByRole('button', { name: 'Delete shop' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await expect.poll(async () => (await service.clientWith(secret).get('/account')).status).toBe(401);
  });

  it('upload files to a media store, show them and delete them', async () => {
    await visit('files/default?prefix=birds%2F');
    await page.getByText('No files yet.').waitFor();
    const chooser = page.waitForEvent('filechooser');
    await page.getByRole('button', { name: 'Upload files' }).click();
    await (
      await chooser
    ).setFiles([
      { name: 'dot one.png', mimeType: 'image/png', buffer: PIXEL },
      { name: 'page.html', mimeType: 'text/html', buffer: Buffer.from('<script>opener.ran = 1</script>') },
    ]);
    await page.getByRole('button', { name: 'Preview of birds/dot one.png' }).click();
    const picture = page.getByRole('img', { name: 'birds/dot one.png' });
    await expect
      .poll(() => picture.evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth))
      .toBe(1);
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
    for (const path of ['birds/dot one.png', 'birds/page.html']) {
      await page.getByRole('button', { name: `Delete ${path}` }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
      await expect.poll(() => page.getByRole('rowheader', { name: path }).count()).toBe(0);
    }
  });

  it('show an error if a file does not fit, and keep the others', async () => {
    await visit('files/default');
    const problem = {
      type: 'about:blank',
      title: 'Full',
      status: 507,
      code: 'storage-full',
      detail: 'No room is left.',
    };
    await page.route('**/media/default/default/*', (route) =>
      route.request().method() === 'PUT'
        ? route.fulfill({ status: 507, contentType: 'application/problem+json', body: JSON.stringify(problem) })
        : route.continue(),
    );
    const chooser = page.waitForEvent('filechooser');
    await page.getByRole('button', { name: 'Upload files' }).click();
    await (await chooser).setFiles({ name: 'more.txt', mimeType: 'text/plain', buffer: Buffer.from('more') });
    await page.getByText('No room is left.').waitFor();
    await page.getByRole('rowheader', { name: 'notes/first.txt' }).waitFor();
    await page.unroute('**/media/default/default/*');
  });

  it('add a model, with which a list is searched by meaning', async () => {
    await visit('models');
    await page.getByRole('button', { name: 'Add model' }).click();
    const form = page.getByRole('form', { name: 'Add model' });
    await form.getByLabel('Provider').selectOption('own');
    await form.getByLabel('Name').fill('three');
    await form.getByLabel('Dimensions').fill('3');
    await form.getByRole('button', { name: 'Add model' }).click();
    await page.getByRole('rowheader', { name: 'three' }).waitFor();
    await visit('list/birds/settings');
    await page.getByLabel('Embedding model').selectOption('three');
    await expect
      .poll(async () => ((await service.client.get('/list/default/birds')).body as { model: string | null }).model)
      .toBe('three');
    await page.getByLabel('Embedding model').selectOption('');
    await expect
      .poll(async () => ((await service.client.get('/list/default/birds')).body as { model: string | null }).model)
      .toBe(null);
    await visit('models');
    await page.getByRole('button', { name: 'Delete three' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('Only the built-in model').waitFor();
  });

  it('connect a website after a preview of its pages, and make it searchable', async () => {
    const site = await serveSite();
    await visit('feeds');
    await page.getByRole('button', { name: 'Connect feed' }).click();
    const form = page.getByRole('form', { name: 'Connect feed' });
    await form.getByLabel('Name').fill('site');
    await form.getByLabel('Start URLs').fill(site.address);
    await form.getByRole('button', { name: 'Preview pages' }).click();
    await page.getByRole('table', { name: 'Pages to read' }).getByText('Second page').waitFor();
    await form.getByRole('button', { name: 'Connect feed' }).click();
    await page.getByRole('rowheader', { name: 'site' }).waitFor();
    await page.getByText('Synced', { exact: true }).waitFor();
    await service.client.post('/list/default', { name: 'pages', searchable_fields: [{ name: 'title' }] });
    await visit('list/pages/settings');
    await page.getByRole('button', { name: 'Follow feed' }).click();
    await page.getByRole('form', { name: 'Follow feed' }).getByRole('button', { name: 'Follow feed' }).click();
    await page.getByText('Imported. 2 added').waitFor();
    await page.getByRole('button', { name: 'Stop importing' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Stop importing' }).click();
    await page.getByText('No source.').waitFor();
    await visit('feeds');
    await page.getByRole('button', { name: 'Delete site' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No feeds yet.').waitFor();
    await service.client.delete('/list/default/pages');
    site.close();
  });

  it('show more lists than one answer of the service has', async () => {
    const names = Array.from({ length: 230 }, (_, index) => `many-${String(index).padStart(3, '0')}`);
    await Promise.all(names.map((name) => service.client.post('/list/default', { name })));
    await visit('lists');
    await page.getByRole('link', { name: 'many-050' }).waitFor();
    expect(await page.getByRole('link', { name: 'many-229' }).count()).toBe(0);
    await page.getByLabel('Find list').fill('many-229');
    await page.getByRole('link', { name: 'many-229' }).waitFor();
    await page.getByLabel('Find list').fill('');
    await page.getByRole('button', { name: 'Show more' }).click();
    await page.getByRole('button', { name: 'Show more' }).click();
    await page.getByRole('link', { name: 'many-229' }).waitFor();
    await Promise.all(names.map((name) => service.client.delete(`/list/default/${name}`)));
  });

  it('open the command palette, which leads to any page, even while the search box has the focus', async () => {
    await visit('list/birds/search');
    await page.locator('input[type=search]:focus').waitFor();
    await openPalette(page);
    await page.keyboard.type('birds: syn');
    await page.getByText('birds: Synonyms').waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(/list\/birds\/synonyms/);
  });

  it('run the first command of the palette, even if lists arrive after the typing', async () => {
    let answer: () => void = () => undefined;
    const typed = new Promise<void>((resolve) => (answer = resolve));
    await page.route('**/list/default?*', async (route) => {
      await typed;
      await route.fallback();
    });
    await visit('plan');
    await page.getByText('Searches this month').first().waitFor();
    const asked = page.waitForRequest('**/list/default?*');
    await openPalette(page);
    await asked;
    await page.keyboard.type('birds: fie');
    await page.getByText('No matching pages or lists.').waitFor();
    answer();
    await page.getByText('birds: Fields').waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(/list\/birds\/fields/);
    await page.unroute('**/list/default?*');
  });

  it('show background jobs in every tab over one connection', async () => {
    const other = await openPage(browser);
    await signIn(service, other);
    const job = { kind: 'version', name: 'birds', state: 'running', done: 10, total: 40, rate_per_second: 5 };
    const told = { job_count: 1, jobs: [{ ...job, seconds_left: 6, started_utc: null, message: null }] };
    let hasEnded = false;
    let listening: Page[] = [];
    const second = await other.context.newPage();
    await second.goto(`${service.address}/console/default/lists`);
    await other.context.route('**/progress/default/events', (route) => {
      listening.push(route.request().frame().page());
      const data = JSON.stringify(hasEnded ? { job_count: 0, jobs: [] } : told);
      return route.fulfill({
        contentType: 'text/event-stream',
        body: `retry: 300\n\nevent: jobs\ndata: ${data}\n\n`,
      });
    });
    await second.getByRole('link', { name: 'birds' }).waitFor();
    // This page was the one that listened, so that the other takes over.
    await other.page.goto(`${service.address}/console/default/lists`);
    await Promise.all([second, other.page].map((tab) => tab.getByRole('button', { name: '1 job' }).waitFor()));
    await second.getByRole('button', { name: '1 job' }).click();
    await second.getByText('10 of 40').waitFor();
    expect(await violationsOf(second)).toEqual([]);
    listening = [];
    await expect.poll(() => listening.length).toBeGreaterThan(2);
    expect(listening.every((tab) => tab === second)).toBe(true);
    hasEnded = true;
    await expect.poll(() => other.page.getByRole('button', { name: '1 job' }).count()).toBe(0);
    await expect.poll(() => second.getByRole('button', { name: '1 job' }).count()).toBe(0);
    await other.context.close();
  });

  it('show that the connection is lost, and continue when it is back', async () => {
    await visit('list/birds/search');
    await page.getByText('found in').waitFor();
    await page.route('**/search/default/birds/**', (route) => route.abort('connectionrefused'));
    await page.getByLabel('Search text').fill('puffin');
    await page.getByText('No connection to the service').waitFor();
    await page.unroute('**/search/default/birds/**');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('found in').waitFor();
  });

  it('ask for a new sign-in after the session has ended', async () => {
    const other = await openPage(browser);
    await signIn(service, other);
    await other.page.goto(`${service.address}/console/default/lists`);
    await other.page.getByRole('link', { name: 'birds' }).waitFor();
    // No request of the page notices the end of the session before the next click.
    await settled(other.page);
    await other.context.clearCookies();
    await other.page.getByRole('link', { name: 'birds' }).click();
    await other.page.getByLabel('Email').waitFor();
    expect(other.page.url()).toContain('sign-in?to=');
    await other.context.close();
  });

  it('can be used on a phone', async () => {
    const other = await openPage(browser, { viewport: { width: 375, height: 700 } });
    await signIn(service, other);
    // The first page is already open, however busy the machine is.
    await other.page.getByText('Drop a file here').first().waitFor();
    for (const [path, text] of PAGES) {
      await goOn(other.page, `/console/default/${path}`, text);
      await settled(other.page);
      // A string, as these tests are not compiled for a browser.
      const overhang = await other.page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
      expect(overhang, path).toBeLessThanOrEqual(0);
    }
    await other.context.close();
  });
});

/** Cumulative layout shift (web.dev/cls): how much of the page moves while it loads. */
const SHIFT_MAX = 0.1;
const COUNT_SHIFTS = `window.shift = 0; new PerformanceObserver((list) => {
  for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) window.shift += value;
}).observe({ type: 'layout-shift', buffered: true });`;

/** One transparent pixel. */
const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
);

/** Serves two pages, one of which links to the other. */
async function serveSite(): Promise<{ readonly address: string; readonly close: () => void }> {
  const pages: Readonly<Record<string, string>> = {
    '/': '<title>First page</title><h1>Gannets</h1><p>They dive.</p><a href="/second">More</a>',
    '/second': '<title>Second page</title><h1>Puffins</h1><p>They swim.</p>',
  };
  const server = createServer(({ url = '' }, response) => {
    const page = pages[url];
    response.writeHead(page === undefined ? 404 : 200, { 'Content-Type': 'text/html' }).end(page);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return { address: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, close: () => server.close() };
}

/** Creates a list with records, a file, a group, and searches to report. */
async function fill(service: TestService): Promise<void> {
  const { client } = service;
  await client.post('/list/default', {
    name: 'birds',
    searchable_fields: [{ name: 'title' }],
    facets: [{ name: 'kind', type: 'string' }],
  });
  await client.bulk(
    'default',
    'birds',
    Array.from({ length: 30 }, (_, index) => ({
      name: `bird-${index}`,
      title: `The ${index % 2 === 0 ? 'gannet' : 'puffin'} no. ${index}`,
      kind: index % 2 === 0 ? 'diver' : 'swimmer',
    })),
  );
  const { key } = await service.createKey({ access: 'full' });
  const headers = { 'X-API-Key': key, 'Content-Type': 'text/plain' };
  const file = `${service.address}/media/default/default/notes/first.txt`;
  await fetch(file, { method: 'PUT', headers, body: 'Gannets dive.' });
  await client.post('/list-group/default', { name: 'all', lists: [{ list: 'birds' }] });
  await client.post('/search/default/birds/1', { query: 'gannet' });
  await client.post('/search/default/birds/1', { query: 'albatross' });
}
