/**
 * Tests that the service writes only in the data directory: not in the home directory, the temporary files or the
 * working directory.
 */
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { pdfOf } from '../support/pdf.js';
import { jpegOf } from '../support/pictures.js';
import { wavOf } from '../support/recordings.js';
import { startTestService, type TestService } from '../support/service.js';

const elsewhere = mkdtempSync(join(tmpdir(), 'gannet-elsewhere-'));
const place = (name: string) => join(elsewhere, name);
const PLACES = ['home', 'temporary', 'working'];

let service: TestService;
beforeAll(async () => {
  for (const name of PLACES) mkdirSync(place(name));
  const env = { HOME: place('home'), TMPDIR: place('temporary'), XDG_CACHE_HOME: '', XDG_CONFIG_HOME: '' };
  service = await startTestService({ env, workingFolder: place('working') });
});
afterAll(async () => {
  await service.close();
  rmSync(elsewhere, { recursive: true, force: true });
});

it('Models, documents, pictures and recordings leave no file outside the data directory', async () => {
  const made = await service.client.post('/list/default', {
    name: 'all',
    model: 'built-in',
    image_model: 'built-in',
    searchable_fields: [{ name: 'title' }],
    resources: [
      { name: 'report', kind: 'document' },
      { name: 'photo', kind: 'image' },
      { name: 'talk', kind: 'audio' },
    ],
  });
  expect(made.status, made.text).toBe(201);
  const files = { report: pdfOf([{ lines: ['gannets dive'] }]), photo: await jpegOf(1), talk: wavOf({}) };
  const record: Record<string, string> = { name: 'one', title: 'a gannet' };
  for (const [name, bytes] of Object.entries(files)) {
    const { status } = await service.client.send('PUT', `/media/default/default/${name}`, { bytes });
    expect(status).toBe(201);
    record[name] = `media:default/${name}`;
  }
  await service.client.bulk('default', 'all', [record]);
  const pending = async () => {
    const { body } = await service.client.get('/list/default/all');
    return (body as { resources_state: { pending: number } }).resources_state.pending;
  };
  await expect.poll(pending, { timeout: 100_000 }).toBe(0);
  expect((await service.client.post('/search/default/all/1', { query: 'gannet' })).status).toBe(200);
  expect(PLACES.flatMap((name) => readdirSync(place(name)))).toEqual([]);
});
