/** Tests the way from a one-time link to the first hit from a dropped file, in a real browser with the real service. */
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Browser } from 'playwright-core';
import { CHROMIUM, NO_CHROMIUM, openPage, startChromium } from '../support/browser.js';
import { eventually } from '../support/eventually.js';
import { startTestService, type TestService } from '../support/service.js';
import { describeWhere } from '../support/skip.js';

const CLICKS_MAX = 8;
const RECORDS = 5_000;
const SCRIPT_BYTES_MAX = 200 * 1024;

describeWhere(CHROMIUM !== undefined, NO_CHROMIUM)('the first task in the console', () => {
  let service: TestService;
  let browser: Browser;

  beforeAll(async () => {
    [service, browser] = await Promise.all([startTestService(), startChromium()]);
  });
  afterAll(async () => {
    await browser.close();
    await service.close();
  });

  it('leads from the link to the first hit among 5,000 records with few clicks', async () => {
    const { page, context, complaints } = await openPage(browser);
    let clicks = 0;
    const click = async (name: string): Promise<void> => {
      clicks += 1;
      await page.getByRole('button', { name }).click();
    };
    await page.goto(await printedLink(service));
    await click('Sign in');
    const chooser = page.waitForEvent('filechooser');
    await click('Choose file');
    await (await chooser).setFiles({ name: 'Sea Birds.csv', mimeType: 'text/csv', buffer: Buffer.from(csv()) });
    expect(await page.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('sea-birds');
    expect(await page.getByRole('combobox', { name: 'Filter and sort by year as' }).inputValue()).toBe('Number');
    await click('Create list and import');
    await page.getByLabel('Search text').fill('slow ganet');
    const hit = page.getByRole('list', { name: 'Hits' }).getByRole('listitem').first();
    await hit.getByText('gannet').waitFor();
    // Both the word as typed and the one that it was corrected to are highlighted.
    await expect.poll(() => hit.locator('em.found').allInnerTexts()).toEqual(['slow', 'gannet']);
    expect(clicks).toBeLessThanOrEqual(CLICKS_MAX);
    expect(complaints).toEqual([]);
    const { body } = await service.client.get('/list/default/sea-birds');
    expect(body).toMatchObject({ record_count: RECORDS, searchable_fields: [{ name: 'name' }, { name: 'title' }] });
    // The token of the link is neither in the URL nor in the history any more.
    expect(page.url()).not.toContain('link=');
    await context.close();
  });

  it('needs little JavaScript before the sign-in page can be used', async () => {
    const { page, context } = await openPage(browser);
    const sizes: Promise<number>[] = [];
    page.on('response', (response) => {
      if (!response.url().endsWith('.js')) return;
      // Measured as compressed by gzip, whatever the browser received.
      sizes.push(response.body().then((script) => gzipSync(script).byteLength));
    });
    await page.goto(`${service.address}/console/`);
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
    expect(sizes.length).toBeGreaterThan(1);
    if (process.env['TEST_TIMES'] !== undefined)
      process.stdout.write(`${sizes.length} scripts, ${bytes} bytes as gzip\n`);
    expect(bytes).toBeLessThanOrEqual(SCRIPT_BYTES_MAX);
    await context.close();
  });
});

/** Returns the link that the first start prints after the line that the service is ready. */
async function printedLink(service: TestService): Promise<string> {
  const link = () => /http:\S+\/console\/#link=\S+/.exec(service.output)?.[0] ?? '';
  return eventually(
    () => Promise.resolve(link()),
    (found) => found !== '',
  );
}

function csv(): string {
  const rows = Array.from({ length: RECORDS }, (_, index) => {
    const kind = index === 4712 ? 'slow' : 'quick';
    return `bird-${index},"The ${kind} ${index % 2 === 0 ? 'gannet' : 'puffin'}, ""no. ${index}""",${1950 + (index % 70)},${index % 3 === 0}`;
  });
  return `name,title,year,in_print\n${rows.join('\n')}\n`;
}
