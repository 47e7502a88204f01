/**
 * Tests pictures in a real browser: searched by, shown only where that is safe, found again, and refused with a
 * reason; in lists and groups.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { copiedBy, violationsOf } from '../support/browser.js';
import { describeConsole } from '../support/console.js';
import { eventually } from '../support/eventually.js';
import { drawnPicture, jpegOf } from '../support/pictures.js';
import { ScriptedServer } from '../support/scripted-server.js';
import type { TestService } from '../support/service.js';

const PICTURES = 12;
const DEFINITION = {
  searchable_fields: [{ name: 'title' }],
  resources: [{ name: 'print', kind: 'image' }],
};
const HOSTILE = '"><img src=x onerror=globalThis.ran=1>.png';

let files: readonly Buffer[];
let web: ScriptedServer;
const place = (number: number): string => `media:default/prints/${number}.jpg`;

beforeAll(async () => {
  files = await Promise.all(Array.from({ length: PICTURES }, (_, seed) => jpegOf(seed)));
  web = await ScriptedServer.start();
  web.script = ({ path }, response) => {
    if (path.endsWith('/transcriptions')) {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ text: '', segments: [] }));
      return;
    }
    const bytes = files[Number(/\d+/.exec(path)?.[0] ?? NaN)];
    response.writeHead(bytes === undefined ? 404 : 200).end(bytes);
  };
});
afterAll(() => web.close());

/**
 * Creates prints in the media store, the last on the web and one too large to be shown without a click; and a list
 * without a picture model.
 */
async function fill(service: TestService): Promise<void> {
  const { client } = service;
  const whisper = { name: 'whisper', kind: 'transcription', provider: 'openai', url: web.url(), served_name: 'w' };
  expect((await service.control().post('/model/default', whisper)).status).toBe(201);
  for (const [number, bytes] of files.entries()) {
    const headers = { 'Content-Type': 'image/jpeg' };
    expect((await client.send('PUT', `/media/default/default/prints/${number}.jpg`, { bytes, headers })).status).toBe(
      201,
    );
  }
  // Noise, which no format compresses.
  const large = await drawnPicture(1, { width: 1200, height: 900 })
    .composite([])
    .png({ compressionLevel: 0 })
    .toBuffer();
  expect(large.length).toBeGreaterThan(1_000_000);
  await client.send('PUT', '/media/default/default/prints/large.png', {
    bytes: large,
    headers: { 'Content-Type': 'image/png' },
  });
  await client.post('/list/default', { name: 'prints', image_model: 'built-in', ...DEFINITION });
  await client.post('/list/default', { name: 'plain', ...DEFINITION });
  const records = files.map((_, number) => ({
    name: `print-${number}`,
    title: `Print no. ${number}`,
    print: number === PICTURES - 1 ? web.url(`/${number}.jpg`) : place(number),
  }));
  const large_one = { name: 'large', title: 'Print in large', print: 'media:default/prints/large.png' };
  const { body } = await client.bulk('default', 'prints', [...records, large_one]);
  expect(body).toMatchObject({ failed: 0 });
  await client.bulk('default', 'plain', [{ name: 'one', title: 'Print', print: place(0) }]);
  await client.post('/list/default', { name: 'talks', resources: [{ name: 'talk', kind: 'video' }] });
  await client.post('/list-group/default', { name: 'all', lists: [{ list: 'prints' }, { list: 'plain' }] });
  await eventually(
    async () => (await client.get('/list/default/prints')).body as { resources_state: { read: number } },
    ({ resources_state }) => resources_state.read === PICTURES + 1,
  );
}

const env = { GANNET_OUTBOUND_LOOPBACK_ALLOWED: 'true' };

describeConsole(
  'pictures in the console',
  { env, fill, context: { permissions: ['clipboard-read', 'clipboard-write'] } },
  (its) => {
    const hits = () => its.page.getByRole('list', { name: 'Hits' }).getByRole('listitem');
    const searched = () => its.page.getByRole('region', { name: 'Hits for this picture' });
    const choose = async (file: { name: string; mimeType: string; buffer: Buffer }): Promise<void> => {
      await its.page.getByText('Search by picture', { exact: true }).click();
      const chooser = its.page.waitForEvent('filechooser');
      await its.page.getByRole('button', { name: 'Choose picture' }).click();
      await (await chooser).setFiles(file);
    };
    const jpeg = (number: number) => ({
      name: HOSTILE,
      mimeType: 'image/jpeg',
      buffer: files[number] ?? Buffer.alloc(0),
    });

    it('finds similar pictures to a chosen one, shows both, and contacts no other host', async () => {
      const asked: string[] = [];
      its.page.on('request', (request) => asked.push(new URL(request.url()).origin));
      await its.visit('list/prints/search');
      await choose(jpeg(3));
      await hits().first().getByRole('link', { name: 'print-3' }).waitFor();
      await hits().first().getByText('image 1.000').waitFor();
      await searched().getByText(HOSTILE).waitFor();
      const shown = hits().first().getByRole('img', { name: 'prints/3.jpg' });
      await expect
        .poll(() => shown.evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth))
        .toBeGreaterThan(100);
      await expect.poll(() => searched().getByRole('img').count()).toBe(1);
      expect(await its.page.evaluate('globalThis.ran')).toBeUndefined();
      expect(new Set(asked)).toEqual(new Set([its.service.address]));
      expect(await violationsOf(its.page)).toEqual([]);
      expect(its.open.complaints).toEqual([]);
    });

    it('takes only its own options: minimum scores, filters and explanations', async () => {
      const options = its.page.getByRole('region', { name: 'Search options' });
      await options.getByLabel(/minimum_image_score/).fill('0.99');
      await its.page.getByText('1 found in').waitFor();
      expect(await options.getByLabel(/typo_tolerance/).count()).toBe(0);
      await options.getByLabel(/explain/).selectOption('true');
      await hits().first().getByText('Why this score?').click();
      await hits().first().getByRole('list', { name: 'Parts of the score' }).getByText('Image').waitFor();
      await its.page.getByRole('button', { name: 'Copy as…' }).click();
      const copied = await copiedBy(its.page, () => its.page.getByRole('menuitem', { name: 'curl' }).click());
      expect(copied).toContain('minimum_image_score=0.99');
      expect(copied).toContain('--data-binary');
      await its.page.getByRole('button', { name: 'Search by words' }).click();
      await its.page.getByLabel('Search text').waitFor();
    });

    it('finds similar pictures to that of a hit, at a URL that keeps it', async () => {
      await its.visit('list/prints/search?query=5');
      await hits().first().getByRole('link', { name: 'print-5' }).waitFor();
      await hits().first().getByRole('button', { name: 'Find similar pictures: print of print-5' }).click();
      await searched().waitFor();
      await hits().first().getByText('image 1.000').waitFor();
      await hits().first().getByRole('link', { name: 'print-5' }).waitFor();
      await its.page.reload();
      await hits().first().getByRole('link', { name: 'print-5' }).waitFor();
      await expect.poll(() => searched().getByRole('img', { name: 'prints/5.jpg' }).count()).toBe(1);
    });

    it('links to pictures on the web and to large ones, and shows neither without a click', async () => {
      await its.visit(`list/prints/search?query=${PICTURES - 1}`);
      const elsewhere = hits().filter({ hasText: `print-${PICTURES - 1}` });
      expect(await elsewhere.getByRole('link', { name: web.url('') }).getAttribute('rel')).toContain('noreferrer');
      expect(await elsewhere.getByRole('img').count()).toBe(0);
      await its.visit('list/prints/search?query=large');
      await hits()
        .getByRole('link', { name: /Open picture \(\d\.\d MB\)/ })
        .waitFor();
      expect(await hits().getByRole('img').count()).toBe(0);
    });

    it('accepts a link or a dropped file, and explains why it refuses others', async () => {
      await its.visit('list/prints/search');
      await its.page.getByText('Search by picture', { exact: true }).click();
      await its.page.getByLabel('Picture link').fill(web.url('/7.jpg'));
      await its.page.getByRole('button', { name: 'Search by link' }).click();
      await hits().first().getByRole('link', { name: 'print-7' }).waitFor();
      await its.page.getByRole('button', { name: 'Search by words' }).click();
      await choose({ name: 'none.png', mimeType: 'image/png', buffer: Buffer.from('no picture') });
      await its.page
        .getByRole('alert')
        .getByText(/not-a-picture/)
        .waitFor();
      await its.page.getByRole('button', { name: 'Search by words' }).click();
      await its.page.getByText('Search by picture', { exact: true }).click();
      const data = await its.page.evaluateHandle(
        `(() => {
        const bytes = Uint8Array.from(atob('${(files[2] ?? Buffer.alloc(0)).toString('base64')}'), (c) => c.charCodeAt(0));
        const data = new DataTransfer();
        data.items.add(new File([bytes], 'dropped.jpg', { type: 'image/jpeg' }));
        return data;
      })()`,
      );
      await its.page.locator('.drop').dispatchEvent('drop', { dataTransfer: data });
      await hits().first().getByRole('link', { name: 'print-2' }).waitFor();
      await its.page.route('**/search/image/**', (route) => route.abort('connectionrefused'));
      await its.page.getByLabel(/minimum_image_score/).fill('0.5');
      await its.page.getByText('No connection to the service').waitFor();
      await its.page.unroute('**/search/image/**');
      await its.page.getByRole('button', { name: 'Try again' }).click();
      await hits().first().getByRole('link', { name: 'print-2' }).waitFor();
    });

    it('searches a group by picture, in its lists with a picture model', async () => {
      await its.visit('group/all');
      await choose(jpeg(4));
      await hits().first().getByRole('link', { name: 'print-4' }).waitFor();
      await hits().first().getByRole('button', { name: 'Find similar pictures: print of print-4' }).click();
      await its.page.waitForURL(/picture=/);
      await hits().first().getByText('image 1.000').waitFor();
      expect(await violationsOf(its.page)).toEqual([]);
    });

    it('runs nothing from the name of a picture or its link in the URL', async () => {
      const { client } = its.service;
      const path = encodeURIComponent(HOSTILE);
      const headers = { 'Content-Type': 'image/jpeg' };
      const bytes = files[0] ?? Buffer.alloc(0);
      expect((await client.send('PUT', `/media/default/default/${path}`, { bytes, headers })).status).toBe(201);
      const fields = { title: 'A trap', print: `media:default/${HOSTILE}` };
      await client.post('/search-result/default/prints', { name: HOSTILE, fields });
      await its.visit('list/prints/search?query=trap');
      await hits().getByRole('img', { name: HOSTILE }).waitFor();
      for (const link of [fields.print, `https://example.com/${HOSTILE}`, 'javascript:globalThis.ran=1']) {
        await its.visit(`list/prints/search?picture=${encodeURIComponent(JSON.stringify(link))}`);
        await searched().getByText(link).waitFor();
        expect(await searched().getByRole('link', { name: link }).count()).toBe(link.startsWith('javascript') ? 0 : 1);
        expect(await its.page.evaluate('globalThis.ran')).toBeUndefined();
        expect(await its.page.locator('main img[onerror]').count()).toBe(0);
      }
      expect(its.open.complaints).toEqual([]);
    });

    it('leads from a list without a picture model to its settings', async () => {
      await its.visit('list/plain/search');
      await its.page.getByRole('link', { name: 'Choose picture model' }).click();
      await its.page.getByLabel('Picture model').selectOption('built-in');
      await its.page.getByText('1 read, 0 waiting, 0 failed.').waitFor();
      await its.visit('list/plain/search');
      await choose(jpeg(0));
      await hits().first().getByRole('link', { name: 'one' }).waitFor();
      expect(await violationsOf(its.page)).toEqual([]);
    });

    it('lets a list use a transcription model, or none', async () => {
      await its.visit('list/talks/settings');
      const model = its.page.getByLabel('Transcription model');
      const chosen = async () => {
        const { body } = await its.service.client.get('/list/default/talks');
        return (body as { transcription_model: string | null }).transcription_model;
      };
      await model.selectOption('whisper');
      await expect.poll(chosen).toBe('whisper');
      await model.selectOption('None (only tags and subtitles are read)');
      await expect.poll(chosen).toBeNull();
      // Videos can be searched by their frames as well.
      expect(await its.page.getByLabel('Picture model').count()).toBe(1);
      expect(await violationsOf(its.page)).toEqual([]);
    });
  },
);
