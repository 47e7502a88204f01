/**
 * Tests what a page of another site can do in a browser that is signed in to the console: one on another port of the
 * same machine, to which the browser sends the cookie (same site), and one whose name resolves to this machine (DNS
 * rebinding).
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Browser, Page } from 'playwright-core';
import { CHROMIUM, NO_CHROMIUM, openPage, signIn, startChromium, type OpenPage } from '../support/browser.js';
import { startTestService, type TestService } from '../support/service.js';
import { describeWhere } from '../support/skip.js';

const REBOUND = 'rebound.example.com';

describeWhere(CHROMIUM !== undefined, NO_CHROMIUM)('a page of another site', () => {
  let service: TestService;
  let browser: Browser;
  let other: Server;
  let open: OpenPage;
  let page: Page;

  beforeAll(async () => {
    other = createServer((_, response) => response.writeHead(200, { 'Content-Type': 'text/html' }).end('<p>Other'));
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const rebinding = [`--host-resolver-rules=MAP ${REBOUND} 127.0.0.1`];
    [service, browser] = await Promise.all([startTestService(), startChromium(rebinding)]);
    await service.client.post('/list/default', { name: 'kept', searchable_fields: [{ name: 'title' }] });
    open = await openPage(browser);
    await signIn(service, open);
    ({ page } = open);
  });
  afterAll(async () => {
    await browser.close();
    await service.close();
    other.close();
  });

  const lists = async () =>
    ((await service.client.get('/list/default')).body as { lists: { name: string }[] }).lists.map(({ name }) => name);

  /** Returns what each request gave to the page, as text. */
  const asked = (address: string, requests: readonly { path: string; options: object }[]): Promise<string[]> =>
    page.evaluate<string[]>(`Promise.all(${JSON.stringify(requests)}.map(({ path, options }) =>
      fetch(${JSON.stringify(address)} + path, options).then(
        async (answer) => answer.type + ' ' + answer.status + ' ' + (await answer.text()).slice(0, 80),
        (error) => error.name)))`);

  const CHANGES = [
    ...['text/plain', 'application/x-www-form-urlencoded', 'application/json'].map((type, index) => ({
      method: 'POST',
      mode: type === 'application/json' ? 'cors' : 'no-cors',
      credentials: 'include',
      headers: { 'Content-Type': type },
      body: JSON.stringify({ name: `forged-${index}` }),
    })),
    { method: 'POST', mode: 'no-cors', credentials: 'include', body: JSON.stringify({ name: 'forged-beacon' }) },
  ];

  it('reads and changes nothing from another port, although the browser sends the cookie', async () => {
    await page.goto(`http://127.0.0.1:${(other.address() as AddressInfo).port}/`);
    const read = { path: '/list/default', options: { credentials: 'include' } };
    const ended = { path: '/session', options: { method: 'DELETE', credentials: 'include' } };
    const changes = CHANGES.map((options) => ({ path: '/list/default', options }));
    const answers = await asked(service.address, [read, ended, ...changes]);
    // An answer that cannot be read shows nothing, not even its status.
    expect(new Set(answers)).toEqual(new Set(['TypeError', 'opaque 0 ']));
    expect(await lists()).toEqual(['kept']);
    // Requests without a body need no preflight and have the cookie: only the token is missing.
    const statuses: number[] = [];
    page.on('response', (response) => statuses.push(response.status()));
    const reindex = { method: 'POST', mode: 'no-cors', credentials: 'include' };
    const paths = ['/list/default/kept/reindex', '/api-key/default'];
    await asked(
      service.address,
      paths.map((path) => ({ path, options: reindex })),
    );
    await expect.poll(() => statuses).toEqual([403, 403]);
    await page.goto(`${service.address}/console/default/`);
    await page.getByText('kept').first().waitFor();
  });

  it('cannot sign a person in or out or change anything with a form from another port', async () => {
    const sent: string[] = [];
    page.on('response', (response) => {
      if (response.request().method() === 'POST') sent.push(`${response.status()} ${new URL(response.url()).pathname}`);
    });
    for (const path of ['/session', '/list/default']) {
      await page.goto(`http://127.0.0.1:${(other.address() as AddressInfo).port}/`);
      const name = JSON.stringify({ email: 'eve@example.com', password: 'correct horse', name: 'forged' }).slice(0, -1);
      const gone = page.waitForURL(service.address + path);
      await page.evaluate(`(() => {
        const form = Object.assign(document.createElement('form'), { method: 'post', enctype: 'text/plain', action: ${JSON.stringify(service.address + path)} });
        form.append(Object.assign(document.createElement('input'), { name: ${JSON.stringify(`${name},"x":"`)}, value: '"}' }));
        document.body.append(form);
        form.submit();
      })()`);
      await gone;
    }
    expect(sent).toHaveLength(2);
    for (const each of sent) expect(each).toMatch(/^4\d\d /);
    expect(await lists()).toEqual(['kept']);
    await page.goto(`${service.address}/console/default/`);
    await page.getByText('kept').first().waitFor();
  });

  it('has neither the cookie nor a key if its host name resolves to this machine', async () => {
    const rebound = service.address.replace('127.0.0.1', REBOUND);
    await page.goto(`${rebound}/health`);
    const change = (path: string) => ({
      path,
      options: {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ name: 'forged' }),
      },
    });
    const answers = await asked('', [
      ...['/list/default', '/session', '/record/default/kept', '/api-key/default'].map((path) => ({
        path,
        options: {},
      })),
      ...['/list/default', '/api-key/default', '/mcp', '/contributor/default/link'].map(change),
    ]);
    for (const answer of answers) expect(answer).toMatch(/^basic 40[134] /);
    expect(await open.context.cookies(rebound)).toEqual([]);
    expect(await lists()).toEqual(['kept']);
  });

  it('cannot be loaded into the console: each page has a content security policy', async () => {
    const { headers } = await fetch(`${service.address}/console/`);
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).toMatch(/^default-src 'none'; script-src 'nonce-[\w-]{22}' 'strict-dynamic';/);
    expect(policy).not.toMatch(/unsafe/);
    const text = await (await fetch(`${service.address}/console/x/y?z="><script>`)).text();
    expect(text).not.toContain('"><script>');
    const files = [...text.matchAll(/(?:src|href)="(\/console\/assets\/[^"]+)"/g)].map(([, path]) => path);
    expect(files.length).toBeGreaterThan(1);
    for (const path of ['/console/', '/console/default/list/kept/search', '/console/sign-in']) {
      const page = await fetch(service.address + path);
      expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
      expect(page.headers.get('x-frame-options')).toBe('DENY');
      expect(page.headers.get('referrer-policy')).toBe('no-referrer');
    }
    for (const path of files) {
      const file = await fetch(service.address + path);
      expect([path, file.status, file.headers.get('x-content-type-options')]).toEqual([path, 200, 'nosniff']);
      expect(file.headers.get('cross-origin-resource-policy')).toBe('same-origin');
    }
    for (const path of ['/console/assets/', '/console/assets/..%2findex.html', '/console/assets/../../package.json'])
      expect((await fetch(service.address + path)).headers.get('content-type')).not.toMatch(/javascript|css/);
  });
});
