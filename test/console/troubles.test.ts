/** Tests where a damaged list is shown first: it is named with what can be done about it. */
import { closeSync, openSync, readdirSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { describeConsole } from '../support/console.js';
import { eventually } from '../support/eventually.js';
import type { TestService } from '../support/service.js';

const PAGES_BYTES = 8192;
const TELEPHONE = { width: 390, height: 844 };

/** Creates the only list, and damages it while the service is stopped. */
async function fill(service: TestService): Promise<void> {
  await service.client.post('/list/default', { name: 'birds', searchable_fields: [{ name: 'title' }] });
  await service.client.post('/search-result/default/birds', { name: 'one', fields: { title: 'word' } });
  await service.stop();
  const lists = join(service.dataDir, 'lists');
  const [folder = ''] = readdirSync(lists).filter((name) => !name.startsWith('.'));
  const file = openSync(join(lists, folder, 'store', 'data.mdb'), 'r+');
  writeSync(file, Buffer.alloc(PAGES_BYTES, 0x5a), 0, PAGES_BYTES, 0);
  closeSync(file);
  await service.start();
  await eventually(
    () => service.client.get('/search/default/birds/1', { query: 'word' }),
    ({ body }) => (body as { code?: string }).code === 'list-damaged',
  );
}

describeConsole('a damaged list', { fill, context: { viewport: TELEPHONE } }, (its) => {
  it('is shown on the page Health, which fits on a phone, with a link to what can be done', async () => {
    await its.visit('health');
    const trouble = its.page.getByRole('list', { name: 'Problems' }).getByRole('listitem');
    const sentence = trouble.getByText("The store of the list 'birds' is damaged");
    const box = await sentence.boundingBox();
    expect(box?.x).toBeGreaterThanOrEqual(0);
    expect((box?.x ?? 0) + (box?.width ?? Infinity)).toBeLessThanOrEqual(TELEPHONE.width);
    await trouble.getByRole('link', { name: 'birds' }).click();
    await its.page.waitForURL(/\/console\/default\/lists/);
  });

  it('is reported on its own pages, with what can be done', async () => {
    await its.visit('list/birds/search');
    const told = its.page.getByRole('alert', { name: 'The list birds is unavailable' });
    await told.getByText('from a backup, or delete the list').waitFor();
    await told.getByRole('button', { name: 'Delete list' }).waitFor();
    await its.page.getByRole('button', { name: 'Try again' }).waitFor();
  });

  it('is named on the page of lists, which is not shown as empty, and can be deleted there', async () => {
    await its.visit('lists');
    const told = its.page.getByRole('alert', { name: 'The list birds is unavailable' });
    await told.getByText("The store of the list 'birds' is damaged").waitFor();
    expect(await its.page.getByText('No lists yet.').count()).toBe(0);
    await told.getByRole('button', { name: 'Delete list' }).click();
    const dialog = its.page.getByRole('dialog', { name: 'Delete list' });
    await dialog.getByRole('textbox').fill('birds');
    await dialog.getByRole('button', { name: 'Delete list' }).click();
    await its.page.getByText('No lists yet.').waitFor();
    expect((await its.service.control().get('/list/default')).body).toMatchObject({ lists: [] });
  });
});
