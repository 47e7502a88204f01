/** Tests the tasks of pages other than those of lists in a real browser, each done once and refused once. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { openPage, signIn, violationsOf } from '../support/browser.js';
import { describeConsole } from '../support/console.js';
import type { TestService } from '../support/service.js';
import { ScriptedServer } from '../support/scripted-server.js';
import { WebhookReceiver } from '../support/webhook-receiver.js';

async function fill({ client }: TestService): Promise<void> {
  await client.post('/list/default', {
    name: 'birds',
    searchable_fields: [{ name: 'title' }],
    facets: [{ name: 'year', type: 'number' }],
  });
  await client.bulk('default', 'birds', [
    { name: 'gannet', title: 'The northern gannet', year: 1980 },
    { name: 'booby', title: 'The blue-footed booby', year: 1990 },
  ]);
  await client.post('/search/default/birds/1', { query: 'solan goose' });
}

/** The folder in which media stores may be. */
const FOLDER = mkdtempSync(join(tmpdir(), 'gannet-console-media-'));
afterAll(() => {
  rmSync(FOLDER, { recursive: true });
});

const env = { GANNET_OUTBOUND_LOOPBACK_ALLOWED: 'true', GANNET_MEDIA_FOLDERS: FOLDER };

describeConsole('pages other than those of lists', { env, fill }, (its) => {
  const button = (name: string) => its.page.getByRole('button', { name, exact: true });
  const form = (name: string) => its.page.getByRole('form', { name });
  const confirm = (name: string) => its.page.getByRole('dialog').getByRole('button', { name, exact: true }).click();
  const refused = (code: number, detail: string) => ({
    status: code,
    contentType: 'application/problem+json',
    body: JSON.stringify({ type: 'about:blank', title: 'No', status: code, code: 'conflict', detail }),
  });

  it('create a group, search it page by page, report a taken name, and delete it', async () => {
    await its.visit('groups');
    for (const expected of ['made', 'refused']) {
      await button('Create group').click();
      await form('Create group').getByLabel('Name').fill('sea');
      if (expected === 'made') {
        await form('Create group').getByRole('combobox', { name: 'Lists' }).click();
        await its.page.getByRole('option', { name: 'birds' }).click();
        // Closes the menu over the button.
        await its.page.keyboard.press('Tab');
      }
      await form('Create group').getByRole('button', { name: 'Create group' }).click();
      if (expected === 'refused') await form('Create group').getByText('Conflict').waitFor();
      else await form('Create group').waitFor({ state: 'detached' });
    }
    await its.page.keyboard.press('Escape');
    await its.page.getByRole('link', { name: 'sea' }).click();
    await its.page.getByText('Searches birds.').waitFor();
    const box = its.page.getByRole('combobox', { name: 'Search text' });
    await box.fill('ganne');
    await its.page.getByRole('option', { name: 'gannet' }).first().click();
    await button('Search group').click();
    await its.page.getByRole('link', { name: 'gannet', exact: true }).waitFor();
    const terns = Array.from({ length: 11 }, (_, index) => ({ name: `tern-${index}`, title: 'A tern' }));
    await its.service.client.bulk('default', 'birds', terns);
    await box.fill('tern');
    await button('Search group').click();
    await button('Page 2').click();
    await expect.poll(() => its.page.getByRole('list', { name: 'Hits' }).getByRole('listitem').count()).toBe(1);
    await box.fill('albatross');
    await button('Search group').click();
    await its.page.getByText('No hits in the lists of this group.').waitFor();
    const options = its.page.getByRole('region', { name: 'Search options' });
    await box.fill('tern');
    await button('Search group').click();
    await button('Page 2').waitFor();
    await options.getByRole('textbox', { name: 'Filter filter' }).fill("name = 'tern-3'");
    await its.page.getByRole('link', { name: 'tern-3', exact: true }).waitFor();
    await expect.poll(() => its.page.getByRole('list', { name: 'Hits' }).getByRole('listitem').count()).toBe(1);
    // Chosen from the fields of the lists; the search is in the address.
    await options.getByRole('combobox', { name: 'search_fields' }).click();
    await its.page.getByRole('option', { name: 'title' }).click();
    await its.page.waitForURL(/search_fields=title/);
    await its.page.reload();
    await its.page.getByRole('link', { name: 'tern-3', exact: true }).waitFor();
    expect(await violationsOf(its.page)).toEqual([]);
    await its.visit('groups');
    await button('Delete sea').click();
    await confirm('Delete group');
    await its.page.getByText('No groups yet.').waitFor();
    // The button that had the focus is gone with its row: a keyboard goes on in the page, not at its top.
    await its.page.locator('#content:focus').waitFor();
  });

  it('create a webhook, send a test, show its log and secret, rotate the secret and delete the webhook', async () => {
    const receiver = await WebhookReceiver.start();
    const url = receiver.url();
    await its.visit('webhooks');
    await button('Create webhook').click();
    await form('Create webhook').getByLabel('URL').fill('ftp://example.com');
    await form('Create webhook').getByLabel('list.created').check();
    await form('Create webhook').getByRole('button', { name: 'Create webhook' }).click();
    await form('Create webhook').getByText('The request was refused').waitFor();
    await form('Create webhook').getByLabel('URL').fill(url);
    await form('Create webhook').getByRole('button', { name: 'Create webhook' }).click();
    const secret = await its.page.locator('[data-secret]').innerText();
    await button('Send test').click();
    await button('Test sent').waitFor();
    await its.page.getByRole('link', { name: url }).click();
    const log = its.page.getByRole('table', { name: 'Deliveries' });
    await log.getByText('webhook.ping').first().waitFor();
    await log.getByText('Delivered').first().waitFor();
    await button('Rotate secret').click();
    await confirm('Rotate secret');
    await expect.poll(() => its.page.locator('[data-secret]').innerText()).not.toBe(secret);
    const rotated = await its.page.locator('[data-secret]').innerText();
    await its.visit('webhooks');
    await button('Show secret').click();
    expect(await its.page.locator('[data-secret]').innerText()).toBe(rotated);
    await its.page.getByText(`Signing secret of ${url}`).waitFor();
    // The reason why no secret can be shown is that of the service.
    const problem = {
      title: 'Cannot be done',
      status: 422,
      detail: 'The key that sealed it is lost.',
      code: 'unprocessable',
    };
    await its.page.route('**/secret', (route) =>
      route.fulfill({ status: 422, contentType: 'application/problem+json', body: JSON.stringify(problem) }),
    );
    await button('Show secret').click();
    await its.page.getByText(problem.detail).waitFor();
    expect(await its.page.locator('[data-secret]').count()).toBe(0);
    await its.page.unroute('**/secret');
    await button('Show secret').click();
    await its.page.locator('[data-secret]').waitFor();
    await button(`Delete ${url}`).click();
    await confirm('Delete webhook');
    await its.page.locator('[data-secret]').waitFor({ state: 'detached' });
    await its.page.getByText('No webhooks yet.').waitFor();
    await receiver.close();
  });

  it('invite a person with a role, change it and remove them, and keep the last owner', async () => {
    await its.visit('people');
    await button('Invite person').click();
    await form('Invite person').getByLabel('Email').fill('kim@example.com');
    await form('Invite person').getByLabel('Role').selectOption('viewer');
    await form('Invite person').getByRole('button', { name: 'Invite person' }).click();
    const link = await its.page.locator('[data-secret]').innerText();
    const kim = await openPage(its.browser);
    await kim.page.goto(`${its.service.address}/console/${link.slice(link.indexOf('#'))}`);
    await kim.page.getByRole('textbox', { name: 'New password' }).fill('correct horse battery');
    await kim.page.getByRole('button', { name: 'Sign in' }).click();
    await kim.page.waitForURL(/\/console\/default/);
    // Pages that are not shown to them are refused as well.
    await kim.page.goto(`${its.service.address}/console/default/settings`);
    await kim.page.getByText('You do not have permission').waitFor();
    const changed = its.page.waitForResponse((response) => response.request().method() === 'PUT');
    await its.page.getByLabel('Role of kim@example.com').selectOption('editor');
    expect((await changed).status()).toBe(200);
    await kim.page.goto(`${its.service.address}/console/default/list/birds/records`);
    await kim.page.getByRole('button', { name: 'Add record' }).waitFor();
    await button('Remove kim@example.com').click();
    await confirm('Remove person');
    await button('Remove kim@example.com').waitFor({ state: 'detached' });
    await kim.page.goto(`${its.service.address}/console/default/lists`);
    await kim.page.getByLabel('Email').waitFor();
    await kim.context.close();
    await button('Remove Signed in by link').click();
    await confirm('Remove person');
    await its.page.getByRole('dialog').getByText('Conflict').waitFor();
  });

  it('set a password, which ends other sessions, and refuse a wrong current one', async () => {
    const other = await openPage(its.browser);
    await signIn(its.service, other);
    await its.visit('profile');
    const password = form('Set password');
    await password.getByLabel('Email').fill('owner@example.com');
    await password.getByRole('textbox', { name: 'New password' }).fill('correct horse battery');
    await password.getByRole('button', { name: 'Save' }).click();
    await password.getByRole('textbox', { name: 'Current password' }).waitFor();
    await password.getByRole('textbox', { name: 'Current password' }).fill('not this one');
    await password.getByRole('textbox', { name: 'New password' }).fill('another battery horse');
    await password.getByRole('button', { name: 'Save' }).click();
    await password.getByRole('alert').waitFor();
    await other.page.goto(`${its.service.address}/console/default/lists`);
    await other.page.getByLabel('Email').waitFor();
    await other.context.close();
    await its.visit('profile');
    await its.page.getByText('This session').waitFor();
  });

  it('create a query rule, test it, and explain a wrong pattern', async () => {
    await its.visit('list/birds/rules');
    await button('Add query rule').click();
    const rule = form('Add query rule');
    await rule.getByLabel('Name').fill('years');
    await rule.getByLabel('Pattern').fill('(\\d{4}');
    await rule.getByLabel('Filter').fill('year = $1');
    await rule.getByRole('button', { name: 'Add query rule' }).click();
    await rule.getByText('The request was refused').waitFor();
    await rule.getByLabel('Pattern').fill('(\\d{4})');
    await rule.getByRole('button', { name: 'Add query rule' }).click();
    await its.page.getByRole('rowheader', { name: 'years' }).waitFor();
    await form('Test query rules').getByLabel('Search text').fill('1990');
    await button('Test').click();
    await its.page.getByText('Applied: years. 1 found').waitFor();
    await button('Remove years').click();
    await confirm('Remove query rule');
    await its.page.getByText('No query rules yet. Add one to turn part of the search text into a filter.').waitFor();
  });

  it('lead from a search without hits to a new synonym, and show an error without the report', async () => {
    await its.page.route('**/analytics/list/default/birds**', (route) => route.fulfill(refused(503, 'It is busy.')));
    await its.visit('list/birds/analytics');
    await its.page.getByText('It is busy.').waitFor();
    await its.page.unroute('**/analytics/list/default/birds**');
    await its.page.reload();
    await its.page.getByRole('link', { name: 'Add synonym for solan goose' }).click();
    const rule = form('Add synonym');
    await rule.getByText('solan goose').waitFor();
    await rule.getByRole('combobox', { name: 'Terms' }).fill('gannet');
    await rule.getByRole('combobox', { name: 'Terms' }).press('Enter');
    await rule.getByRole('button', { name: 'Add synonym' }).click();
    await its.page.getByText('solan goose = gannet').waitFor();
    await its.visit('list/birds/search?query=%22solan%20goose%22');
    await its.page.getByRole('link', { name: 'gannet', exact: true }).waitFor();
  });

  it('show a one-way synonym and remove it, but cannot create one', async () => {
    const rules = [{ kind: 'rewrite', terms: ['sula'], replace_with: ['booby'] }];
    await its.service.client.put('/list/synonyms/default/birds', { rules });
    await its.visit('list/birds/synonyms');
    await its.page.getByText('sula → booby').waitFor();
    expect(await form('Add synonym').getByRole('radio').count()).toBe(0);
    await button('Remove sula → booby').click();
    await confirm('Remove synonym');
    await its.page.getByText('No synonyms yet. Add one, or get suggestions from searches and records.').waitFor();
  });

  it('show suggestions for typed text and related records', async () => {
    await its.visit('list/birds/suggestions');
    await its.page.getByLabel('Text typed so far').fill('boo');
    await its.page.getByRole('list', { name: 'Suggestions' }).getByRole('link', { name: 'booby' }).first().waitFor();
    await its.page.route('**/suggest/**', (route) => route.abort('connectionrefused'));
    await its.page.getByLabel('Text typed so far').fill('gan');
    await its.page.getByText('No connection to the service').waitFor();
    await its.page.unroute('**/suggest/**');
    await its.page.getByLabel(/Suggest earlier searches only/).click();
    await expect
      .poll(async () => (await its.service.client.get('/list/default/birds')).body)
      .toMatchObject({ suggestions: { require_click: true } });
    await its.visit('list/birds/records');
    await button('gannet').click();
    const related = its.page.locator('details').filter({ hasText: 'Similar records' });
    await related.getByText('Similar records').click();
    await related
      .getByText(/No similar records|booby/)
      .first()
      .waitFor();
  });

  it('connect an RSS feed with a form, explain a wrong URL, change its interval and delete it', async () => {
    const server = await ScriptedServer.start();
    server.script = (_, response) => response.writeHead(200, { 'Content-Type': 'text/html' }).end('<p>No feed</p>');
    await its.visit('feeds');
    await button('Connect feed').click();
    const feed = form('Connect feed');
    await feed.getByLabel('Provider').selectOption('rss');
    await feed.getByLabel('Name').fill('news');
    await feed.getByLabel('URL').fill(server.url('/feed.xml'));
    await feed.getByRole('button', { name: 'Connect feed' }).click();
    await feed.getByRole('alert').waitFor();
    expect(await feed.getByLabel('URL').inputValue()).toBe(server.url('/feed.xml'));
    server.script = (_, response) =>
      response.writeHead(200, { 'Content-Type': 'application/rss+xml' }).end(
        `<rss version="2.0"><channel><title>News</title><link>${server.url('/')}</link>
         <item><guid>1</guid><title>Gannets are back</title><description>They dive.</description></item></channel></rss>`,
      );
    await feed.getByRole('button', { name: 'Connect feed' }).click();
    const row = its.page.getByRole('row', { name: /^news/ });
    await row.getByText('Synced', { exact: true }).waitFor();
    await row.getByRole('button', { name: 'Edit interval' }).click();
    await form('Edit interval').getByLabel('Minutes between syncs').fill('45');
    await form('Edit interval').getByRole('button', { name: 'Save' }).click();
    await form('Edit interval').waitFor({ state: 'detached' });
    const { body } = await its.service.client.get('/feed/default/news');
    expect(body).toMatchObject({ provider: 'rss', interval_minutes: 45, record_count: 1 });
    await row.getByRole('button', { name: 'Sync news now' }).click();
    await row.getByText('1 earlier since you opened this page').waitFor();
    await row.getByRole('button', { name: 'Move file' }).click();
    const move = form('Move file');
    await move.getByLabel('Media store').fill('nowhere');
    await move.getByRole('button', { name: 'Move file' }).click();
    await move.getByRole('alert').waitFor();
    const other = { name: 'other', kind: 'folder', folder: FOLDER };
    expect((await its.service.client.post('/media-store/default', other)).status).toBe(201);
    await move.getByLabel('Media store').fill('other');
    await move.getByRole('button', { name: 'Move file' }).click();
    await move.waitFor({ state: 'detached' });
    expect((await its.service.client.get('/feed/default/news')).body).toMatchObject({ media_store: 'other' });
    await button('Delete news').click();
    await confirm('Delete feed');
    await its.page.getByText('No feeds yet.').waitFor();
    await server.close();
  });

  it('create an expiring API key for one group, and show an error if that is not allowed', async () => {
    await its.service.client.post('/list-group/default', { name: 'shore', lists: [{ list: 'birds' }] });
    await its.visit('keys');
    await its.page.route('**/api-key/default', (route) =>
      route.request().method() === 'POST' ? route.fulfill(refused(403, 'You may make none.')) : route.continue(),
    );
    await button('Create API key').click();
    const key = form('Create API key');
    await key.getByLabel('Name').fill('kiosk');
    await key.getByLabel('Region').fill('us');
    await key.getByLabel('Scope').selectOption('group');
    await key.getByRole('combobox', { name: 'One group' }).fill('shore');
    await its.page.getByRole('option', { name: 'shore' }).click();
    await key.getByLabel('Expires').fill('2099-12-31');
    await key.getByRole('button', { name: 'Create API key' }).click();
    await key.getByText('You may make none.').waitFor();
    await its.page.unroute('**/api-key/default');
    await key.getByRole('button', { name: 'Create API key' }).click();
    const secret = await its.page.locator('[data-secret]').innerText();
    // A group is in one region, whatever was entered before it was chosen.
    expect(secret).toMatch(/^gnt_eu_/);
    const holder = its.service.clientWith(secret);
    expect((await holder.post('/search/group/default/shore/latest', {})).status).toBe(200);
    expect((await holder.post('/feed/default/connect', {})).status).toBe(403);
    await its.page.getByRole('row', { name: /^kiosk .*(?:2099|2100)/ }).waitFor();
    await its.service.client.delete('/list-group/default/shore');
  });

  it('show the report of a group, and an error if it is not available', async () => {
    await its.service.client.post('/list-group/default', { name: 'coast', lists: [{ list: 'birds' }] });
    await its.service.client.post('/search/group/default/coast/latest', { query: 'gannet' });
    await expect
      .poll(async () => (await its.service.client.get('/analytics/group/default/coast')).body)
      .toMatchObject({ top_searches: [{ term: 'gannet' }] });
    await its.page.route('**/analytics/group/default/coast**', (route) => route.fulfill(refused(503, 'It is busy.')));
    await its.visit('group/coast');
    await its.page.getByText('It is busy.').waitFor();
    await its.page.unroute('**/analytics/group/default/coast**');
    await its.page.reload();
    await its.page.getByRole('rowheader', { name: 'gannet' }).waitFor();
    await its.page.getByRole('img', { name: /Searches per day/ }).waitFor();
    await its.service.client.delete('/list-group/default/coast');
  });

  it('check a media store, and refuse one in a folder that the settings do not allow', async () => {
    await its.visit('files');
    await button('Check default').click();
    await its.page.getByText('No problems found').waitFor();
    await button('Add media store').click();
    const store = form('Add media store');
    await store.getByLabel('Kind').selectOption('folder');
    await store.getByLabel('Name').fill('shared');
    await store.getByLabel('Folder').fill('/etc');
    await store.getByRole('button', { name: 'Add media store' }).click();
    await store.getByRole('alert').waitFor();
  });

  it('show plan, health and settings, and errors if they are not available', async () => {
    const told = [
      ['plan', '**/plan/default**', 'Searches this month'],
      ['health', '**/metrics', 'All measurements'],
      ['health', '**/service/state/default', 'Last backup'],
      ['settings', '**/service/settings/default', 'search.deadline_ms'],
    ] as const;
    for (const [path, operation, text] of told) {
      await its.page.route(operation, (route) => route.fulfill(refused(503, `No ${path} for now.`)));
      await its.visit(path);
      await its.page.getByText(`No ${path} for now.`).first().waitFor();
      await its.page.unroute(operation);
      await its.page.reload();
      await its.page.getByText(text).first().waitFor();
    }
  });
});
