/**
 * Tests that stored values are shown and never run, whatever they are, and that no other site can control the
 * console.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Browser } from 'playwright-core';
import { CHROMIUM, goOn, NO_CHROMIUM, openPage, signIn, startChromium } from '../support/browser.js';
import { startTestService, type TestService } from '../support/service.js';
import { describeWhere } from '../support/skip.js';

const PAYLOADS = 1000;
const CORES = [
  '<script>globalThis.ran=1</script>',
  '<img src=x onerror="globalThis.ran=1">',
  '<svg onload="globalThis.ran=1">',
  '"><iframe srcdoc="<script>parent.ran=1</script>">',
  "'-globalThis.ran=1-'",
  'javascript:globalThis.ran=1',
  '{{constructor.constructor("globalThis.ran=1")()}}',
  '</title><script>globalThis.ran=1</script>',
  '&lt;img src=x onerror=globalThis.ran=1&gt;',
  '<em><img src=x onerror="globalThis.ran=1"></em>',
];

const payload = (index: number): string => `gannet ${index} ${CORES[index % CORES.length] ?? ''}`;

/** Returns the editor's lines on the page after scrolling down; at the end it starts again from the top. */
const SCROLL_EDITOR = `(async () => {
  const box = document.querySelector('.cm-scroller');
  const isAtEnd = box.scrollTop + box.clientHeight >= box.scrollHeight - 1;
  box.scrollTop = isAtEnd ? 0 : box.scrollTop + box.clientHeight / 2;
  await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
  return [...document.querySelectorAll('.cm-line')].map((line) => line.textContent);
})()`;

describeWhere(CHROMIUM !== undefined, NO_CHROMIUM)('hostile values in the console', () => {
  let service: TestService;
  let browser: Browser;

  beforeAll(async () => {
    // These tests connect only to this machine.
    const env = { GANNET_OUTBOUND_LOOPBACK_ALLOWED: 'true', GANNET_FEEDS_PLAIN_HTTP: 'true' };
    [service, browser] = await Promise.all([startTestService({ env }), startChromium()]);
  });
  afterAll(async () => {
    await browser.close();
    await service.close();
  });

  it(`runs none of ${PAYLOADS} payloads in records, names, rules, synonyms, keys and searches`, async () => {
    await fill(service);
    const open = await openPage(browser);
    await signIn(service, open);
    const { page, complaints } = open;
    const pages = [
      'list/traps/records',
      'list/traps/fields',
      'list/traps/synonyms',
      'list/traps/rules',
      'list/traps/analytics',
      'keys',
      ...Array.from(
        { length: 10 },
        (_, index) => `list/traps/search?query=gannet&size=100&skip=${index * 100}&explain=true`,
      ),
    ];
    let shown = 0;
    for (const path of pages) {
      await goOn(page, `/console/default/${path}`, 'globalThis');
      shown += await page.getByRole('listitem').count();
      expect(await page.evaluate(() => (globalThis as { ran?: number }).ran), path).toBeUndefined();
      expect(await page.locator('main script, main iframe, main img, main em img').count(), path).toBe(0);
    }
    expect(shown).toBeGreaterThanOrEqual(PAYLOADS);
    expect(complaints).toEqual([]);
    await open.context.close();
  });

  it(`runs none of ${PAYLOADS} payloads in the editor of a record`, async () => {
    const { client } = service;
    await client.post('/list/default', { name: 'edited', searchable_fields: [{ name: 'title' }] });
    const lines = Array.from({ length: PAYLOADS }, (_, index) => payload(index));
    const record = { name: payload(1), title: payload(0), [payload(2)]: lines };
    expect((await client.bulk('default', 'edited', [record])).body).toMatchObject({ failed: 0 });
    const open = await openPage(browser);
    await signIn(service, open);
    const { page, complaints } = open;
    await page.goto(`${service.address}/console/default/list/edited/records`);
    await page.getByRole('button', { name: payload(1) }).click();
    const drawer = page.getByRole('dialog', { name: 'Record' });
    await drawer.locator('.cm-line').first().waitFor();
    const seen = new Set<string>();
    const look = async (): Promise<number> => {
      // Only visible lines are on the page, so all are scrolled through. This is a string, as these tests are not
      // compiled for a browser.
      const shown = await page.evaluate<string[]>(SCROLL_EDITOR);
      for (const line of shown) seen.add(line.trim().replace(/,$/, ''));
      return lines.filter((line) => seen.has(JSON.stringify(line))).length;
    };
    await expect.poll(look).toBe(PAYLOADS);
    expect(await page.evaluate(() => (globalThis as { ran?: number }).ran)).toBeUndefined();
    expect(await drawer.locator('script, iframe, .cm-content img, .cm-content svg').count()).toBe(0);
    // The same holds for typed text that is no JSON.
    await drawer.getByRole('textbox', { name: 'Fields' }).fill(`{"${CORES.join('\n')}`);
    await drawer.getByText(/^Line \d+: /).waitFor();
    expect(await page.evaluate(() => (globalThis as { ran?: number }).ran)).toBeUndefined();
    expect(complaints).toEqual([]);
    await open.context.close();
  });

  it("runs none in names of files, webhooks' URLs and answers, titles of feeds, user agents and emails", async () => {
    const source = await serve(`<title>${CORES[1] ?? ''}</title><p>Gannets ${CORES[0] ?? ''}</p>`);
    const webhook = await fillAround(service, source.address);
    const open = await openPage(browser, { userAgent: `Gannet ${CORES[1] ?? ''}` });
    await signIn(service, open);
    const { page, complaints } = open;
    const shows = async (path: string): Promise<void> => {
      await page.getByText('globalThis').first().waitFor();
      expect(await page.evaluate(() => (globalThis as { ran?: number }).ran), path).toBeUndefined();
      expect(await page.locator('main script, main iframe, main img, [role=dialog] img').count(), path).toBe(0);
    };
    for (const path of ['files/default', `webhooks?webhook=${webhook}`, 'profile', 'people', 'list/fed/records']) {
      await page.goto(`${service.address}/console/default/${path}`);
      await shows(path);
    }
    // The page of feeds itself shows nothing of what they read.
    await page.goto(`${service.address}/console/default/feeds`);
    await page.getByRole('button', { name: 'Connect feed' }).click();
    const form = page.getByRole('form', { name: 'Connect feed' });
    await form.getByLabel('Name').fill('shown');
    await form.getByLabel('Start URLs').fill(source.address);
    await form.getByRole('button', { name: 'Preview pages' }).click();
    await shows('what a feed would read');
    expect(complaints).toEqual([]);
    await open.context.close();
    source.server.close();
  });

  it('are refused as names of lists, groups, feeds, models and media stores', async () => {
    const paths = ['list', 'list-group', 'model', 'media-store'].map((kind) => `/${kind}/default`);
    for (const path of [...paths, '/feed/default/connect']) {
      const { status, body } = await service.control().post(path, { name: CORES[1] });
      expect([status, (body as { code: string }).code], path).toEqual([
        400,
        expect.stringMatching(/^invalid-(?:name|parameter)$/),
      ]);
    }
  });

  it('cannot redirect from the sign-in page to another site', async () => {
    const open = await openPage(browser);
    await signIn(service, open);
    for (const to of ['https://example.com/', '//example.com/', '/\\example.com', 'javascript:alert(1)']) {
      await open.page.goto(`${service.address}/console/sign-in?to=${encodeURIComponent(JSON.stringify(to))}`);
      await open.page.getByLabel('Email').waitFor();
      expect(new URL(open.page.url()).origin).toBe(service.address);
    }
    await open.context.close();
  });

  it('cannot frame the console in another site', async () => {
    const framing = await serve(`<iframe src="${service.address}/console/" id="frame"></iframe>`);
    const { page, context } = await openPage(browser);
    const refused = page.waitForEvent('console', {
      predicate: (message) => message.text().includes('frame-ancestors'),
    });
    await page.goto(framing.address);
    await refused;
    expect(await page.frameLocator('#frame').getByRole('button').count()).toBe(0);
    await context.close();
    framing.server.close();
  });
});

async function fill(service: TestService): Promise<void> {
  const { client } = service;
  const hostile = CORES[1] ?? '';
  await client.post('/list/default', {
    name: 'traps',
    searchable_fields: [{ name: 'title' }, { name: 'globalThis<script>' }],
    query_rules: [{ name: hostile, pattern: 'zzz', filter: "kind = 'x'" }],
    facets: [{ name: 'kind', type: 'string' }],
    synonym_rules: [{ kind: 'equivalent', terms: ['<img src=x onerror:globalThis>', 'booby'] }],
  });
  const records = Array.from({ length: PAYLOADS }, (_, index) => ({
    name: `${index} ${payload(index)}`,
    title: payload(index),
    kind: payload(index),
  }));
  const { body } = await client.bulk('default', 'traps', records);
  expect(body).toMatchObject({ failed: 0 });
  await service.createKey({ name: hostile });
  await client.post('/search/default/traps/1', { query: payload(1) });
  await client.post('/search/default/traps/1', { query: `nothing ${hostile}`, match: 'phrase' });
}

/**
 * Creates other things with payloads: files, a webhook with a delivery, a list that follows a feed, an invited
 * person. Returns the webhook's id.
 */
async function fillAround(service: TestService, source: string): Promise<string> {
  const { client } = service;
  await Promise.all(
    CORES.map(async (core, index) => {
      const path = encodeURIComponent(`${index} ${core.replaceAll('/', '')}.txt`);
      const { status, text } = await client.send('PUT', `/media/default/default/${path}`, {
        bytes: core,
        headers: { 'Content-Type': 'text/html' },
      });
      expect(status, text).toBe(201);
    }),
  );
  const made = await client.post('/webhook', {
    account: 'default',
    url: `${source}${encodeURIComponent('<img src=x onerror=globalThis.ran=1>')}?globalThis.ran=1`,
    events: ['list.created'],
  });
  expect(made.status, made.text).toBe(201);
  const { id } = made.body as { id: string };
  expect((await client.post(`/webhook/default/${id}/test`, undefined)).status).toBe(202);
  const feed = { name: 'titles', provider: 'website', settings: { start_urls: [source] } };
  const connected = await client.post('/feed/default/connect', feed);
  expect(connected.status, connected.text).toBe(201);
  await client.post('/list/default', { name: 'fed', searchable_fields: [{ name: 'title' }] });
  expect((await client.post('/list/default/fed/feed', { feed: 'titles' })).status).toBeLessThan(300);
  await expect
    .poll(async () => ((await client.get('/list/default/fed')).body as { record_count: number }).record_count)
    .toBe(1);
  const invited = await service.control().post('/contributor/default/link', {
    email: '<img/src=x/onerror=globalThis.ran=1>@example.com',
    role: 'viewer',
  });
  expect(invited.status, invited.text).toBe(201);
  return id;
}

function serve(html: string): Promise<{ server: Server; address: string }> {
  const server = createServer((_, response) => response.writeHead(200, { 'Content-Type': 'text/html' }).end(html));
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      resolve({ server, address: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` });
    });
  });
}
