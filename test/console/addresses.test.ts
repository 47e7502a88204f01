/**
 * Tests in a real browser that every state of the console that a person would share, or find again after a reload,
 * has a URL.
 */
import { afterAll, expect, it } from 'vitest';
import { openPage, signInAs } from '../support/browser.js';
import { describeConsole } from '../support/console.js';
import { ScriptedServer } from '../support/scripted-server.js';
import type { TestService } from '../support/service.js';

let source: ScriptedServer | undefined;
afterAll(async () => {
  await source?.close();
});

async function fill(service: TestService): Promise<void> {
  const { client } = service;
  source = await ScriptedServer.start();
  source.script = (_, response) =>
    response.writeHead(200, { 'Content-Type': 'text/html' }).end('<title>Birds</title><p>Gannets dive.</p>');
  const made = [
    await client.post('/list/default', {
      name: 'birds',
      searchable_fields: [{ name: 'title', weight: 3 }],
      facets: [{ name: 'year', type: 'number' }],
      resources: [{ name: 'photo', kind: 'image' }],
      query_rules: [{ name: 'years', pattern: '(\\d{4})', filter: 'year = $1' }],
    }),
    await client.post('/search-result/default/birds', { name: 'gannet', fields: { title: 'The gannet', year: 1980 } }),
    await client.post('/list-group/default', { name: 'sea', lists: [{ list: 'birds' }] }),
    await service.control().post('/model/default', { name: 'three', provider: 'own', dimensions: 3 }),
    await client.post('/feed/default/connect', {
      name: 'site',
      provider: 'website',
      settings: { start_urls: [source.url('/')] },
      interval_minutes: 45,
    }),
    await client.send('PUT', '/media/default/default/notes/first.txt', {
      bytes: 'Gannets dive.',
      headers: { 'Content-Type': 'text/plain' },
    }),
  ];
  expect(made.map(({ status }) => status)).toEqual(made.map(() => 201));
  // The search box is shown only if there are many lists.
  for (let number = 0; number < 10; number += 1) await client.post('/list/default', { name: `more-${number}` });
}

/** The page, the button that opens the form of a row, its place in the URL, and a control with its content. */
const FORMS = [
  ['list/birds/fields', 'Edit title', 'searchable:title', 'Weight', '3'],
  ['list/birds/fields', 'Edit year', 'facet:year', 'Field', 'year'],
  ['list/birds/fields', 'Edit photo', 'resource:photo', 'Field', 'photo'],
  ['list/birds/rules', 'Edit years', 'rule:years', 'Pattern', '(\\d{4})'],
  ['groups', 'Edit sea', 'group:sea', 'Lists', ''],
  ['models', 'Edit three', 'model:three', 'Dimensions', '3'],
  ['feeds', 'Edit interval of site', 'interval:site', 'Minutes between syncs', '45'],
  ['feeds', 'Move file of site', 'move:site', 'Media store', 'default'],
] as const;

/** The page, the box for typing, what is typed, its name in the URL, and what is shown then. */
const BOXES = [
  ['lists', 'Find list', 'more-7', 'find', 'more-7'],
  ['settings', 'Filter by name', 'search.deadline', 'find', 'search.deadline_ms'],
  ['list/birds/suggestions', 'Text typed so far', 'gann', 'typed', 'gannet'],
  ['files/default', 'Filter by path prefix', 'notes/', 'prefix', 'notes/first.txt'],
] as const;

describeConsole('URLs of the console', { env: { GANNET_OUTBOUND_LOOPBACK_ALLOWED: 'true' }, fill }, (its) => {
  const dialog = () => its.page.getByRole('dialog');
  const formIn = (address: string) => new URL(address).searchParams.get('form');

  it.each(FORMS)(
    'on the page %s, the button "%s" opens the form %s, which stays open after a reload',
    async (...form) => {
      const [path, button, place, control, value] = form;
      await its.visit(path);
      await its.page.getByRole('button', { name: button, exact: true }).click();
      await expect.poll(() => formIn(its.page.url())).toBe(place);
      await its.page.reload();
      await expect.poll(() => dialog().getByLabel(control).first().inputValue()).toBe(value);
      await its.page.goBack();
      await dialog().waitFor({ state: 'detached' });
      expect(formIn(its.page.url())).toBe(null);
    },
  );

  it('keep an open webhook and an open file', async () => {
    const url = 'https://example.com/hook';
    const { body } = await its.service.client.post('/webhook', { account: 'default', url, events: ['list.created'] });
    const { id } = body as { id: string };
    await its.visit(`webhooks?webhook=${id}&form=webhook:${id}`);
    await expect.poll(() => dialog().getByLabel('URL').inputValue()).toBe(url);
    await dialog().getByRole('button', { name: 'Close' }).click();
    await dialog().waitFor({ state: 'detached' });
    expect(new URL(its.page.url()).searchParams.get('webhook'), 'its log stays').toBe(id);
    await its.visit('files/default?form=file:notes/first.txt');
    await dialog().getByRole('link', { name: 'Open' }).waitFor();
    await its.page.keyboard.press('Escape');
    await dialog().waitFor({ state: 'detached' });
  });

  it('open no form without permission, and show the page if the named thing does not exist', async () => {
    await its.visit('groups?form=group:gone');
    await its.page.getByRole('link', { name: 'sea' }).waitFor();
    expect(await dialog().count()).toBe(0);
    const viewer = await openPage(its.browser);
    await signInAs(its.service, viewer, 'viewer');
    for (const form of ['group:sea', 'new-group']) {
      await viewer.page.goto(`${its.service.address}/console/default/groups?form=${form}`);
      await viewer.page.getByRole('link', { name: 'sea' }).waitFor();
      expect(await viewer.page.getByRole('dialog').count(), form).toBe(0);
    }
    await viewer.context.close();
  });

  it('do not change when a confirmation is opened', async () => {
    await its.visit('groups');
    const before = its.page.url();
    await its.page.getByRole('button', { name: 'Delete sea' }).click();
    await dialog().getByRole('button', { name: 'Delete' }).waitFor();
    expect(its.page.url()).toBe(before);
    await its.page.keyboard.press('Escape');
  });

  it.each(BOXES)('on the page %s, keep the text typed into "%s"', async (path, label, typed, name, shown) => {
    await its.visit('plan');
    await its.visit(path);
    const box = its.page.getByLabel(label);
    await box.focus();
    // Letters arrive quickly and out of order; each must be where it was typed while the URL follows.
    await its.page.keyboard.type(typed.slice(3));
    await its.page.keyboard.press('Home');
    await its.page.keyboard.type(typed.slice(0, 3));
    expect(await box.inputValue()).toBe(typed);
    await expect.poll(() => new URL(its.page.url()).searchParams.get(name)).toBe(typed);
    await its.page.reload();
    await expect.poll(() => box.inputValue()).toBe(typed);
    await its.page.getByText(shown, { exact: true }).first().waitFor();
    await its.page.goBack();
    await its.page.getByText('Searches this month').first().waitFor();
  });

  it('drop the typed text when the page is opened from the navigation', async () => {
    await its.visit('lists?find=more-7');
    await its.page.getByRole('link', { name: 'more-7' }).waitFor();
    await its.page.getByRole('navigation').getByRole('link', { name: 'Lists' }).click();
    await its.page.getByRole('link', { name: 'birds' }).waitFor();
    expect(await its.page.getByLabel('Find list').inputValue()).toBe('');
  });

  it('restore the scroll position of a page after a form over it is closed', async () => {
    await its.service.client.bulk(
      'default',
      'birds',
      Array.from({ length: 40 }, (_, number) => ({ name: `bird-${number}`, title: `Bird ${number}` })),
    );
    await its.visit('list/birds/records');
    const last = its.page.getByRole('button', { name: /^bird-/ }).last();
    await last.scrollIntoViewIfNeeded();
    const scrolled = () => its.page.evaluate<number>('scrollY');
    const before = await scrolled();
    expect(before).toBeGreaterThan(0);
    await last.click();
    await dialog().getByLabel('Fields').waitFor();
    await its.page.keyboard.press('Escape');
    await dialog().waitFor({ state: 'detached' });
    await expect.poll(scrolled).toBe(before);
    await last.click();
    await dialog().getByLabel('Fields').waitFor();
    await its.page.goBack();
    await dialog().waitFor({ state: 'detached' });
    await expect.poll(scrolled).toBe(before);
  });
});
