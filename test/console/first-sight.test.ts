/**
 * Tests what a person sees without a manual: why there are no hits, what a deletion will remove, where they are, and
 * what to do next.
 */
import { expect, it } from 'vitest';
import { openPage, settled, signIn, violationsOf } from '../support/browser.js';
import { describeConsole } from '../support/console.js';
import { ScriptedServer } from '../support/scripted-server.js';
import type { TestService } from '../support/service.js';

const env = { GANNET_OUTBOUND_LOOPBACK_ALLOWED: 'true' };

/** Creates a list of books without names, as in a spreadsheet. */
async function fill({ client }: TestService): Promise<void> {
  await client.post('/list/default', {
    name: 'books',
    searchable_fields: [{ name: 'title' }, { name: 'author' }],
    facets: [{ name: 'year', type: 'number' }],
  });
  const titles = ['The storm petrel', 'A quiet harbour', 'The gannet dives'];
  await client.bulk(
    'default',
    'books',
    titles.map((title, index) => ({ isbn: `978-${index}`, title, author: 'A. Heron', year: 2000 + index })),
  );
  await client.post('/list/default', { name: 'empty' });
}

describeConsole('the console for a newcomer', { env, fill }, (its) => {
  const button = (name: string | RegExp) => its.page.getByRole('button', { name });
  const hits = () => its.page.getByRole('list', { name: 'Hits' }).getByRole('listitem');

  it('names the cardinality of a facet as the API does, with its meaning', async () => {
    await its.visit('list/books/fields');
    await its.page.getByRole('table').getByText('Single (one per record)').waitFor();
    await its.page.getByRole('button', { name: 'Add facet' }).click();
    const form = its.page.getByRole('form', { name: 'Add facet' });
    await form.getByRole('combobox', { name: 'Values' }).click();
    await its.page.getByRole('option', { name: 'Many (several per record)' }).click();
    await its.page.keyboard.press('Escape');
  });

  it('explains why a search may have no hits, and leads to where each cause can be fixed', async () => {
    await its.visit('list/books/search?query=petrel&filter=year%20%3E%203000&match=all&facets=year');
    const why = its.page.getByRole('region', { name: 'No hits.' });
    await why.waitFor();
    await its.page.getByRole('group', { name: 'Values of year' }).getByText('No values in these hits').waitFor();
    // The words are not the reason: records have them.
    expect(await why.getByText('No record has these words').count()).toBe(0);
    await why.getByRole('button', { name: 'Match any word' }).click();
    await why.getByRole('button', { name: 'Match any word' }).waitFor({ state: 'detached' });
    await why.getByRole('button', { name: 'Remove filter' }).click();
    await hits().first().waitFor();

    await its.visit('list/books/search?query=978-1');
    await why.getByText('in the searchable fields: title, author.').waitFor();
    expect(await violationsOf(its.page)).toEqual([]);
    await why.getByRole('link', { name: 'Edit searchable fields' }).click();
    await button('Add searchable field').waitFor();
    await its.page.locator('#content:focus').waitFor();
    await its.page.goBack();
    await why.getByRole('link', { name: 'Add synonym for “978-1”' }).click();
    await its.page.getByRole('form', { name: 'Add synonym' }).getByText('978-1').waitFor();

    await its.visit('list/empty/search?query=petrel');
    await why.getByText('This list has no records yet.').waitFor();
    await its.service.client.post('/search-result/default/empty', { name: 'one', fields: { title: 'A petrel' } });
    // New records are found without another search.
    await hits().first().waitFor();
  });

  it('shows a record without a name by its title', async () => {
    await its.visit('list/books/search?query=petrel');
    const link = hits().first().getByRole('link');
    await link.waitFor();
    expect(await link.innerText()).toBe('The storm petrel');
    expect(await link.locator('em.found').allInnerTexts()).toEqual(['petrel']);
    await its.visit('list/books/search?query=heron');
    await expect.poll(() => hits().first().getByRole('link').innerText()).toMatch(/^(The|A) /);
  });

  it('begins a new record with the fields of its list', async () => {
    await its.visit('list/books/records?add=true');
    const form = its.page.getByRole('dialog');
    const fields = form.getByRole('textbox', { name: 'Fields' });
    await expect
      .poll(async () => JSON.parse(await fields.innerText()) as unknown)
      .toEqual({
        title: '',
        author: '',
        year: null,
      });
    // Fields that are left empty are no error.
    await form.getByLabel('Name').fill('begun');
    await form.getByRole('button', { name: 'Add record' }).click();
    await form.waitFor({ state: 'detached' });
    await its.page.getByRole('button', { name: 'begun' }).waitFor();
  });

  it('shows how many records a filter would delete, without counting that as a search', async () => {
    const searches = async () =>
      ((await its.service.client.get('/analytics/list/default/books')).body as { total_searches: number })
        .total_searches;
    await its.visit('list/books/records');
    await settled(its.page);
    const before = await searches();
    await button('Delete by filter…').click();
    const dialog = its.page.getByRole('dialog');
    const filter = dialog.getByLabel('Filter');
    expect(await dialog.getByRole('button', { name: 'Delete by filter…' }).isDisabled()).toBe(true);
    await filter.fill('year > 3000');
    await dialog.getByText('No records match.').waitFor();
    await filter.fill('year >');
    await dialog.getByRole('alert').waitFor();
    await filter.fill('year >= 2001');
    await dialog.getByText('2 records match. Deleting them cannot be undone.').waitFor();
    await filter.fill('year = 2001');
    await dialog.getByText('1 record matches. Deleting it cannot be undone.').waitFor();
    await dialog.getByRole('button', { name: 'Delete 1 record' }).click();
    await its.page.getByText('A quiet harbour').waitFor({ state: 'detached' });
    await expect
      .poll(async () => (await its.service.client.get('/list/default/books')).body)
      .toMatchObject({
        record_count: 3,
      });
    expect(await searches()).toBe(before);
  });

  it('names each browser tab by page and list, and shows each time also in UTC', async () => {
    await its.visit('list/books/synonyms');
    await expect.poll(() => its.page.title()).toBe('Synonyms · books · Gannet');
    await its.page.getByRole('tab', { name: 'Query rules' }).click();
    await expect.poll(() => its.page.title()).toBe('Query rules · books · Gannet');
    await its.visit('lists');
    const moment = its.page.getByRole('row', { name: /books/ }).locator('time');
    expect(await moment.getAttribute('title')).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/);
    await its.visit('profile');
    await its.page.getByText(/^(Chrome|Edge) on \w+$/).waitFor();
  });

  it('keeps the navigation on an unknown page, and goes back to what was before a form that was closed', async () => {
    await its.visit('nowhere');
    await its.page.getByRole('heading', { name: 'Page not found' }).waitFor();
    await its.page.getByRole('navigation').getByRole('link', { name: 'Lists' }).click();
    await button('Create empty list').click();
    await its.page.getByRole('dialog').waitFor();
    await its.page.keyboard.press('Escape');
    await its.page.getByRole('dialog').waitFor({ state: 'detached' });
    await its.page.goBack();
    await settled(its.page);
    expect(new URL(its.page.url()).search).toBe('');
    expect(await its.page.getByRole('dialog').count()).toBe(0);
    await its.page.goBack();
    await its.page.getByRole('heading', { name: 'Page not found' }).waitFor();
  });

  it('explains that a record has no vector because its words are unknown, without an error', async () => {
    const [, list] = await Promise.all([
      its.page.route(/\/list\/default\/books$/, async (route) => {
        const answer = await route.fetch();
        const meaning = { state: 'ready', embedded: 1, pending: 0, failed: 1, error: 'unknown-words' };
        await route.fulfill({ response: answer, json: { ...((await answer.json()) as object), meaning } });
      }),
      its.service.client.get('/list/default/books'),
    ]);
    expect(list.status).toBe(200);
    await its.visit('list/books/settings');
    await its.page.getByText('Some records have no word that the model knows.').waitFor();
    expect(await its.page.getByRole('alert').count()).toBe(0);
    await its.page.unroute(/\/list\/default\/books$/);
  });

  it('creates a list from a feed with one click, and the list has its records as soon as they are read', async () => {
    const server = await ScriptedServer.start();
    server.script = (_asked, response) => {
      response.end('<rss><channel><item><guid>1</guid><title>Gannets dive</title></item></channel></rss>');
    };
    const settings = { url: server.url('/news') };
    await its.service.control().post('/feed/default/connect', { name: 'news', provider: 'rss', settings });
    await its.visit('feeds');
    await button('Create list from news').click();
    await its.page.waitForURL(/\/list\/news\/search/);
    await hits().first().getByText('Gannets dive').waitFor();
    await its.visit('feeds');
    await its.page.getByRole('link', { name: 'news', exact: true }).click();
    await hits().first().waitFor();
    // A list with this name exists already, which an error says.
    await its.service.client.delete('/list/default/news/source');
    await its.visit('feeds');
    await button('Create list from news').click();
    await its.page.getByRole('alert').getByText('news').waitFor();
    await server.close();
  });

  it('changes which pages of a website are read, and explains wrong settings', async () => {
    const server = await ScriptedServer.start();
    server.script = (_asked, response) => {
      response.setHeader('Content-Type', 'text/html');
      response.end('<title>Birds</title><p>Gannets dive.</p>');
    };
    const settings = { start_urls: [server.url('/')] };
    await its.service.control().post('/feed/default/connect', { name: 'site', provider: 'website', settings });
    await its.visit('feeds');
    await its.page.getByRole('row', { name: /^site/ }).getByRole('button', { name: 'Edit pages' }).click();
    const form = its.page.getByRole('form', { name: 'Edit pages' });
    await form.getByLabel('Start URLs').fill('no address');
    await form.getByRole('button', { name: 'Save' }).click();
    await form.getByRole('alert').waitFor();
    await form.getByLabel('Start URLs').fill(server.url('/birds/'));
    await form.getByLabel('Include only these pages').fill(server.url('/birds/**'));
    await form.getByRole('button', { name: 'Save' }).click();
    await form.waitFor({ state: 'detached' });
    expect((await its.service.client.get('/feed/default/site')).body).toMatchObject({
      settings: { start_urls: [server.url('/birds/')], include: [server.url('/birds/**')] },
    });
    await server.close();
  });

  it('shows hits first on a phone, and options on request', async () => {
    const open = await openPage(its.browser, { viewport: { width: 390, height: 844 } });
    await signIn(its.service, open);
    await open.page.goto(`${its.service.address}/console/default/list/books/search?query=petrel`);
    const hit = open.page.getByRole('list', { name: 'Hits' }).getByRole('listitem').first();
    await hit.waitFor();
    expect((await hit.boundingBox())?.y ?? 844).toBeLessThan(600);
    expect(await open.page.getByLabel(/^Filter/).isVisible()).toBe(false);
    await open.page.getByText('Search options').click();
    await open.page.getByLabel(/^Filter/).fill('year > 3000');
    await open.page.getByText('No hits.').waitFor();
    expect(await open.page.getByLabel(/^Filter/).isVisible()).toBe(true);
    expect(await violationsOf(open.page)).toEqual([]);
    await open.context.close();
  });

  it('explains how to sign in without a password, reports wrong credentials, and works by keyboard', async () => {
    const { page, context } = await openPage(its.browser);
    await page.goto(`${its.service.address}/console/sign-in`);
    await page.getByText('gannet console link').waitFor();
    await page.getByLabel('Email').focus();
    await page.keyboard.type('nobody@example.com');
    await page.keyboard.press('Tab');
    await page.keyboard.type('no password of anybody');
    await page.keyboard.press('Enter');
    await page.getByText('Wrong email or password. Check both, then try again.').waitFor();
    await context.close();
  });

  it('names the wrong control as the form does', async () => {
    await its.visit('feeds?form=connect');
    const form = its.page.getByRole('form', { name: 'Connect feed' });
    await form.getByLabel('Name').fill('site');
    await form.getByLabel('Start URLs').fill('no address');
    await form.getByRole('button', { name: 'Preview pages' }).click();
    const alert = form.getByRole('alert');
    await alert.waitFor();
    expect(await alert.innerText()).toMatch(/^Start URLs: /m);
  });
});

describeConsole('the console of an empty account', { fill: () => Promise.resolve() }, (its) => {
  it('offers a feed, an empty list and an API key to a person without a file', async () => {
    for (const [link, dialog] of [
      ['Connect a website, RSS feed, JSON API or mailbox', 'Connect feed'],
      ['Create an empty list and add records', 'Create empty list'],
      ['Create an API key for a program that writes records', 'Create API key'],
    ] as const) {
      await its.visit('');
      await its.page.getByRole('link', { name: link }).click();
      await its.page.getByRole('dialog', { name: dialog }).waitFor();
    }
  });
});
