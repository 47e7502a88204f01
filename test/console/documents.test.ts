/**
 * Tests documents of records and learned meaning in a real browser: pages that are found and read, files that fail,
 * and explanations of hits.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { violationsOf } from '../support/browser.js';
import { describeConsole } from '../support/console.js';
import { eventually } from '../support/eventually.js';
import { pdfOf } from '../support/pdf.js';
import { ScriptedServer } from '../support/scripted-server.js';
import type { TestService } from '../support/service.js';

const HOSTILE = '<img src=x onerror="globalThis.ran=1">';

/** By path. */
const served = new Map<string, Buffer>();
let files: ScriptedServer;
beforeAll(async () => {
  files = await ScriptedServer.start();
  files.script = ({ path }, response) => {
    const bytes = served.get(path);
    response.writeHead(bytes === undefined ? 404 : 200).end(bytes);
  };
});
afterAll(() => files.close());

async function fill({ client }: TestService): Promise<void> {
  served.set('/birds.pdf', pdfOf([{ lines: ['Puffins swim'] }, { lines: [`Gannets dive ${HOSTILE}`] }]));
  await client.post('/list/default', {
    name: 'papers',
    model: 'own',
    searchable_fields: [{ name: 'title' }],
    resources: [{ name: 'report', kind: 'document' }],
  });
  const put = (name: string, path: string) =>
    client.post('/search-result/default/papers', { name, fields: { title: 'Paper', report: files.url(path) } });
  await put('2026/birds', '/birds.pdf');
  await put('gone', '/gone.pdf');
  await eventually(
    async () => (await client.get('/list/default/papers')).body as { resources_state: Record<string, number> },
    ({ resources_state: { read, failed } }) => read === 1 && failed === 1,
  );
}

const env = { GANNET_OUTBOUND_LOOPBACK_ALLOWED: 'true' };

describeConsole('documents and meaning in the console', { env, fill }, (its) => {
  it('shows the page that a search found, links to it, and explains it', async () => {
    await its.visit('list/papers/search?query=gannets&explain=true');
    const hit = its.page.getByRole('list', { name: 'Hits' }).getByRole('listitem').first();
    const found = hit.getByRole('link', { name: 'report, page 2 of 2' });
    expect(await found.getAttribute('href')).toBe(`${files.url('/birds.pdf')}#page=2`);
    expect(await hit.locator('em.found').first().innerText()).toBe('Gannets');
    await hit.getByText('Why this score?').click();
    await hit.getByRole('list', { name: 'Parts of the score' }).getByText('Document').waitFor();
    await hit.getByText('report: Read').waitFor();
    expect(await violationsOf(its.page)).toEqual([]);
  });

  it("shows the text of a record's documents page by page", async () => {
    await its.visit('list/papers/records');
    await its.page.getByRole('button', { name: '2026/birds' }).click();
    const documents = its.page.getByRole('region', { name: 'Document text' });
    await documents.getByText('Puffins swim').waitFor();
    expect(await documents.getByRole('button', { name: 'Previous page' }).isDisabled()).toBe(true);
    await documents.getByRole('button', { name: 'Next page' }).click();
    await documents.getByText(`Gannets dive ${HOSTILE}`).waitFor();
    await documents.getByText('Page 2 of 2').waitFor();
    expect(await its.page.evaluate(() => (globalThis as { ran?: number }).ran)).toBeUndefined();
    expect(await violationsOf(its.page)).toEqual([]);
    expect(its.open.complaints).toEqual([]);
  });

  it('shows which files could not be read, and retries them', async () => {
    await its.visit('list/papers/settings');
    const linked = its.page.getByRole('region', { name: 'Linked files' });
    await linked.getByText('1 read, 0 waiting, 1 failed.').waitFor();
    await linked
      .getByRole('row', { name: /gone\.pdf/ })
      .getByText('Not found', { exact: true })
      .waitFor();
    expect(await violationsOf(its.page)).toEqual([]);
    served.set('/gone.pdf', pdfOf([{ lines: ['It is back'] }]));
    await linked.getByRole('button', { name: 'Retry failed files' }).click();
    await linked.getByText('Reading 1 file again.').waitFor();
    await linked.getByText('2 read, 0 waiting, 0 failed.').waitFor();
    await its.page.route('**/list/resources-refresh/**', (route) => route.abort('connectionrefused'));
    await linked.getByRole('button', { name: 'Check all files' }).click();
    await linked.getByText('No connection to the service').waitFor();
    await its.page.unroute('**/list/resources-refresh/**');
  });

  it('makes no link of a javascript: URL', async () => {
    await its.service.client.post('/search-result/default/papers', {
      name: 'trap',
      fields: { title: 'Trap', report: 'javascript:globalThis.ran=1' },
    });
    await its.visit('list/papers/records');
    await its.page.getByRole('button', { name: 'trap' }).click();
    const documents = its.page.getByRole('region', { name: 'Document text' });
    await documents.getByText('javascript:globalThis.ran=1').waitFor();
    expect(await documents.getByRole('link').count()).toBe(0);
  });

  it('lets a list learn what its words mean, and shows what a search means then', async () => {
    const kinds = ['gannet dives for fish in the sea', 'rose blooms red in the garden', 'train stops at the station'];
    await its.service.client.post('/list/default', { name: 'notes', searchable_fields: [{ name: 'title' }] });
    await its.visit('list/notes/settings');
    await its.page.getByLabel('Embedding model').selectOption('built-in');
    await its.page.getByText(/It learns from 64 records on/).waitFor();
    await its.service.client.bulk(
      'default',
      'notes',
      Array.from({ length: 90 }, (_, index) => ({ name: `note-${index}`, title: `${kinds[index % 3]} ${index % 7}` })),
    );
    await its.page.reload();
    await its.page.getByText('90 records have vectors, 0 waiting, 0 failed.').waitFor();
    await its.visit('list/notes/search?query=gannet&explain=true');
    const hit = its.page.getByRole('list', { name: 'Hits' }).getByRole('listitem').first();
    await hit.getByText('Why this score?').click();
    await hit.getByText(/The search is similar in meaning to these records: note-/).waitFor();
    await hit.getByRole('list', { name: 'Parts of the score' }).getByText('Meaning').waitFor();
  });
});
