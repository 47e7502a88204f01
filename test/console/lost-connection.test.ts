/**
 * Tests in a real browser that a page of the console whose connection breaks says so, reconnects by itself, and has
 * missed nothing.
 */
import type { Route } from 'playwright-core';
import { expect, it } from 'vitest';
import { openPage, oneTimeLink, violationsOf } from '../support/browser.js';
import { describeConsole, type OpenConsole } from '../support/console.js';
import { CutConnections } from '../support/cut-connections.js';
import type { TestService } from '../support/service.js';

async function fill({ client }: TestService): Promise<void> {
  await client.post('/list/default', { name: 'birds', searchable_fields: [{ name: 'title' }] });
}

/** Opens the page of all lists by connections that can be cut. */
async function openLists({ service, browser }: OpenConsole) {
  const way = await CutConnections.to(service.address);
  const opened = await openPage(browser);
  const { page } = opened;
  const link = await oneTimeLink(service);
  await page.goto(link.replace(service.address, way.address));
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL(/\/console\/default/);
  await page.goto(`${way.address}/console/default/lists`);
  await page.getByRole('link', { name: 'birds' }).waitFor();
  return { way, ...opened };
}

describeConsole('a console whose connection is lost', { fill }, (its) => {
  it('says so, continues when the service is back, and reports no job twice', async () => {
    const { way, page, context, complaints } = await openLists(its);
    let isImporting = true;
    const imports = (async () => {
      for (let number = 0; isImporting; number += 1)
        await its.service.client.bulk('default', 'birds', [{ name: `bird-${number}`, title: 'A bird' }]);
    })();
    const jobs = page.getByRole('button', { name: '1 job' });
    await jobs.waitFor();

    way.cut();
    await page.getByText('Not connected').waitFor();
    expect(await violationsOf(page)).toEqual([]);
    const made = await its.service.client.post('/list/default', { name: 'made-meanwhile' });
    expect(made.status).toBe(201);
    expect(await page.getByRole('link', { name: 'made-meanwhile' }).count()).toBe(0);

    way.mend();
    await page.getByRole('link', { name: 'made-meanwhile' }).waitFor();
    await page.getByText('Not connected').waitFor({ state: 'detached' });
    await jobs.click();
    const told = page.getByText('Import: birds');
    // Between two imports there may be a moment without one.
    await expect.poll(() => told.count()).toBe(1);
    isImporting = false;
    await imports;
    await jobs.waitFor({ state: 'detached' });
    expect(complaints).toEqual([]);
    await context.close();
    await way.close();
  });

  it('stays on the page if the code of the next page cannot be loaded, and shows that page when it can', async () => {
    const { way, page, context } = await openLists(its);

    way.cut();
    await page.getByText('Not connected').waitFor();
    await page.getByRole('link', { name: 'Webhooks' }).click();
    await page.getByRole('heading', { name: 'No connection to the service', level: 1 }).waitFor();
    await page.getByRole('link', { name: 'Groups' }).waitFor();
    expect(await violationsOf(page)).toEqual([]);

    // Code that did not arrive is fetched before the page is reloaded, as WebKit would not request it again.
    const fetched: string[] = [];
    page.on('request', (request) => {
      if (request.resourceType() === 'fetch') fetched.push(request.url());
    });
    way.mend();
    await page.getByRole('heading', { name: 'Webhooks', level: 1 }).waitFor();
    expect(fetched.filter((url) => url.includes('/assets/webhooks-'))).toHaveLength(1);
    await context.close();
    await way.close();
  });

  it('asks one thing at a time to find out whether the service is back, however slowly it answers', async () => {
    const { way, page, context } = await openLists(its);
    way.cut();
    await page.getByText('Not connected').waitFor();
    await page.clock.install();
    await page.getByRole('link', { name: 'Webhooks' }).click();
    await page.getByRole('heading', { name: 'No connection to the service', level: 1 }).waitFor();
    const [asked, fetched]: [Route[], Route[]] = [[], []];
    await page.route('**/console/', (route) => void asked.push(route));
    await page.route('**/assets/webhooks-*', (route) => void fetched.push(route));
    way.mend();
    await expect.poll(() => asked.length).toBe(1);
    await page.clock.runFor(20_000);
    expect(asked).toHaveLength(1);
    await asked[0]?.continue();
    await expect.poll(() => fetched.length).toBe(1);
    await page.clock.runFor(20_000);
    expect([asked.length, fetched.length]).toEqual([1, 1]);
    await page.unroute('**/assets/webhooks-*');
    await fetched[0]?.continue();
    await page.getByRole('heading', { name: 'Webhooks', level: 1 }).waitFor();
    await context.close();
    await way.close();
  });
});
