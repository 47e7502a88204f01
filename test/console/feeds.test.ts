/** Tests feeds in the console, mostly as seen from another tab. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeConsole } from '../support/console.js';
import { eventually } from '../support/eventually.js';
import { ScriptedServer } from '../support/scripted-server.js';

const env = { GANNET_OUTBOUND_LOOPBACK_ALLOWED: 'true' };
let server: ScriptedServer;
/** Answers that are held back; undefined if none are. */
let held: (() => void)[] | undefined;
beforeAll(async () => {
  server = await ScriptedServer.start();
  server.script = (_asked, response) => {
    const answer = () => response.end('<rss><channel><item><guid>1</guid><title>One</title></item></channel></rss>');
    if (held === undefined) answer();
    else held.push(answer);
  };
});
afterAll(() => server.close());

describeConsole('feeds in the console', { env, fill: () => Promise.resolve() }, (its) => {
  const status = async (name: string) =>
    ((await its.service.client.get(`/feed/default/${name}`)).body as { readonly status: string }).status;
  const connect = async (name: string) => {
    const settings = { url: server.url(`/${name}`) };
    const { status: code, text } = await its.service
      .control()
      .post('/feed/default/connect', { name, provider: 'rss', settings });
    expect(code, text).toBeLessThan(300);
    await eventually(
      () => status(name),
      (is) => is === 'Synced',
    );
  };

  it('show in every tab that a sync was started in one tab, also after a reload', async () => {
    await connect('news');
    await its.visit('feeds');
    const second = await its.open.context.newPage();
    await second.goto(its.page.url());
    const tabs = [its.page, second].map((page) => {
      const row = page.getByRole('row', { name: /^news/ });
      return { row, sync: row.getByRole('button', { name: 'Sync news now' }), page };
    });
    for (const { row, sync } of tabs) {
      await row.getByText('Synced', { exact: true }).waitFor();
      // A sync is shown for a moment longer than it runs.
      await eventually(() => sync.isEnabled(), Boolean);
    }
    held = [];
    await tabs[0]?.sync.click();
    for (const { row } of tabs) await row.getByText('Syncing', { exact: true }).waitFor();
    for (const { sync } of tabs) await eventually(() => sync.isDisabled(), Boolean);
    await second.reload();
    await tabs[1]?.row.getByText('Syncing', { exact: true }).waitFor();
    await eventually(async () => tabs[1]?.sync.isDisabled(), Boolean);
    const waiting = held;
    held = undefined;
    for (const end of waiting) end();
    for (const { row, sync } of tabs) {
      await row.getByText('Synced', { exact: true }).waitFor();
      await eventually(() => sync.isEnabled(), Boolean);
    }
    await second.close();
  });

  it('are offered to a list only if no other list follows them', async () => {
    const { client } = its.service;
    for (const name of ['birds', 'fish']) await client.post('/list/default', { name });
    await connect('other');
    const offered = async () => {
      await its.visit('list/fish/settings');
      await its.page.getByRole('button', { name: 'Follow feed' }).click();
      const choice = its.page.getByRole('form', { name: 'Follow feed' }).getByLabel('Feed');
      await choice.waitFor();
      return { choice, names: () => choice.getByRole('option').allTextContents() };
    };
    const both = await offered();
    await eventually(both.names, (names) => names.join() === 'news,other');
    expect((await client.post('/list/default/birds/feed', { feed: 'news' })).status).toBeLessThan(300);
    const one = await offered();
    await eventually(one.names, (names) => names.join() === 'other');
    expect((await client.post('/list/default/birds/feed', { feed: 'other' })).status).toBe(409);
    expect((await client.post('/list/default/fish/feed', { feed: 'news' })).status).toBe(409);
    expect((await client.post('/list/default/fish/feed', { feed: 'other' })).status).toBeLessThan(300);
    await client.post('/list/default', { name: 'plants' });
    await its.visit('list/plants/settings');
    await its.page.getByRole('button', { name: 'Follow feed' }).click();
    await its.page.getByText('Every feed already has a list.').waitFor();
  });

  it('are connected without the secret that was typed for another provider', async () => {
    await its.visit('feeds?form=connect');
    const form = its.page.getByRole('form', { name: 'Connect feed' });
    await form.getByLabel('Provider').selectOption('email');
    await form.getByLabel(/^Secret/).fill('of a mailbox');
    await form.getByLabel('Provider').selectOption('rss');
    await form.getByLabel('Name').fill('without');
    await form.getByLabel(/^URL/).fill(server.url('/without'));
    await form.getByRole('button', { name: 'Connect feed' }).click();
    await form.waitFor({ state: 'detached' });
    await its.page.getByRole('row', { name: /^without/ }).waitFor();
  });
});
