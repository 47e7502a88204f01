/** What is stored is shown and never run, whatever it is; and nobody else's page gets hold of the console. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Browser } from 'playwright-core';
import { CHROMIUM, NO_CHROMIUM, openPage, signIn, startChromium } from '../support/browser.js';
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

describeWhere(CHROMIUM !== undefined, NO_CHROMIUM)('hostile values in the console', () => {
  let service: TestService;
  let browser: Browser;

  beforeAll(async () => {
    [service, browser] = await Promise.all([startTestService(), startChromium()]);
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
      await page.goto(`${service.address}/console/default/${path}`);
      await page.getByText('globalThis').first().waitFor();
      shown += await page.getByRole('listitem').count();
      expect(await page.evaluate(() => (globalThis as { ran?: number }).ran), path).toBeUndefined();
      expect(await page.locator('main script, main iframe, main img, main em img').count(), path).toBe(0);
    }
    expect(shown).toBeGreaterThanOrEqual(PAYLOADS);
    expect(complaints).toEqual([]);
    await open.context.close();
  });

  it('leads from the sign-in page nowhere but into the console', async () => {
    const open = await openPage(browser);
    await signIn(service, open);
    for (const to of ['https://example.com/', '//example.com/', '/\\example.com', 'javascript:alert(1)']) {
      await open.page.goto(`${service.address}/console/sign-in?to=${encodeURIComponent(JSON.stringify(to))}`);
      await open.page.getByLabel('E-mail').waitFor();
      expect(new URL(open.page.url()).origin).toBe(service.address);
    }
    await open.context.close();
  });

  it('is in no frame of another page', async () => {
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

function serve(html: string): Promise<{ server: Server; address: string }> {
  const server = createServer((_, response) => response.writeHead(200, { 'Content-Type': 'text/html' }).end(html));
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      resolve({ server, address: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` });
    });
  });
}
