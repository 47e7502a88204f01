/**
 * Tests files that are uploaded to a media store and opened in a browser: pages, drawings and scripts are downloaded,
 * and none of them runs.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Browser } from 'playwright-core';
import { CHROMIUM, NO_CHROMIUM, openPage, signIn, startChromium } from '../support/browser.js';
import { ScriptedServer } from '../support/scripted-server.js';
import { startTestService, type TestService } from '../support/service.js';
import { describeWhere } from '../support/skip.js';

/** Types that a file is declared to have. */
const TYPES = [
  'text/html',
  'image/svg+xml',
  'application/xhtml+xml',
  'application/xml',
  'text/javascript',
  'image/png',
];

describeWhere(CHROMIUM !== undefined, NO_CHROMIUM)('files of a media store in a browser', () => {
  let service: TestService;
  let browser: Browser;
  /** Is contacted by anything that runs, and serves a page of another site. */
  let witness: ScriptedServer;
  const served = new Map<string, { readonly type: string; readonly text: string }>();

  beforeAll(async () => {
    [service, browser, witness] = await Promise.all([startTestService(), startChromium(), ScriptedServer.start()]);
    witness.script = ({ path }, response) => {
      const { type = 'text/plain', text = '' } = served.get(path) ?? {};
      response.writeHead(200, { 'Content-Type': type, 'Access-Control-Allow-Origin': '*' }).end(text);
    };
  });
  afterAll(async () => {
    await browser.close();
    await Promise.all([service.close(), witness.close()]);
  });

  const script = (name: string) => `new Image().src=${JSON.stringify(witness.url(`/ran?${name}`))}`;
  const filesOf = (name: string): Readonly<Record<string, string>> => ({
    'page.html': `<!doctype html><script>${script(name)}</script><img src=x onerror='${script(name)}'>`,
    'drawing.svg': `<svg xmlns="http://www.w3.org/2000/svg" onload='${script(name)}'><script>${script(name)}</script></svg>`,
    'page.xhtml': `<html xmlns="http://www.w3.org/1999/xhtml"><body><script>${script(name)}</script></body></html>`,
    'script.js': script(name),
  });
  const ran = () => witness.asked.map(({ path }) => path).filter((path) => path.startsWith('/ran'));

  it('run no script for a signed-in person, opened directly or within a page of another site', async () => {
    const open = await openPage(browser);
    await signIn(service, open);
    const { context, page } = open;
    // The same script runs if the service does not serve it: otherwise this test would show nothing.
    const [plain = ''] = Object.values(filesOf('witness'));
    served.set('/witness.html', { type: 'text/html', text: plain });
    await page.goto(witness.url('/witness.html'));
    await expect.poll(ran).toContain('/ran?witness');
    witness.asked.splice(0);

    const addresses: string[] = [];
    for (const [index, type] of TYPES.entries()) {
      for (const [file, bytes] of Object.entries(filesOf('file'))) {
        const path = `/media/default/default/uploaded/${index}/${file}`;
        const { status, text } = await service.client.send('PUT', path, { bytes, headers: { 'Content-Type': type } });
        expect(status, text).toBe(201);
        addresses.push(`${service.address}${path}`);
      }
    }
    for (const address of addresses) {
      const opened = await context.newPage();
      const saved = opened.waitForEvent('download').then(() => 'saved', () => 'shown'); // prettier-ignore
      await opened.goto(address).catch(() => undefined);
      // A picture is shown, and so is what only claims to be one; everything else is downloaded.
      const isPicture = address.includes(`/${TYPES.indexOf('image/png')}/`);
      if (!isPicture) expect([address, await saved]).toEqual([address, 'saved']);
      await opened.close();
    }
    const frames = addresses.map(
      (address) =>
        `<iframe src="${address}"></iframe><embed src="${address}"><object data="${address}"></object><img src="${address}"><script src="${address}"></script>`,
    );
    served.set('/frames.html', { type: 'text/html', text: `<!doctype html>${frames.join('')}<p>the end</p>` });
    await page.goto(witness.url('/frames.html'), { waitUntil: 'load' });
    await page.getByText('the end').waitFor();
    // Scripts run in the order of their requests: any other would have run before this one.
    await page.evaluate(`fetch(${JSON.stringify(witness.url('/ran?last'))})`);
    await expect.poll(ran).toContain('/ran?last');
    expect(ran().filter((path) => path !== '/ran?last')).toEqual([]);
    await context.close();
  });
});
