import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PageAnswer } from '../http/index.js';
import { openConsoleSite } from './console-site.js';

const folder = mkdtempSync(join(tmpdir(), 'gannet-console-'));

beforeAll(() => {
  mkdirSync(join(folder, 'assets'));
  writeFileSync(join(folder, 'index.html'), '<script nonce="{{nonce}}"></script><link nonce="{{nonce}}">');
  writeFileSync(join(folder, 'assets', 'index-1a.js'), 'plain');
  writeFileSync(join(folder, 'assets', 'index-1a.js.br'), 'small');
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

async function ask(path: string, headers: { acceptEncoding?: string; ifNoneMatch?: string } = {}, tls = false) {
  const site = await openConsoleSite({ folder, tls });
  return site.answer({ path, acceptEncoding: '', ifNoneMatch: '', ...headers });
}

const textOf = (answer: PageAnswer | undefined): string => Buffer.from(answer?.body ?? []).toString();

describe('the page of the console', () => {
  it('is the same for every path of the application, with a new nonce each time', async () => {
    const pages = [await ask('/console/'), await ask('/console/default/list/films/search')];
    const nonces = pages.map(
      (page) => /script-src 'nonce-([^']+)'/.exec(page?.headers['Content-Security-Policy'] ?? '')?.[1],
    );
    expect(nonces[0]).not.toBe(nonces[1]);
    expect(pages.map(textOf)).toEqual(
      nonces.map((nonce) => `<script nonce="${nonce}"></script><link nonce="${nonce}">`),
    );
    for (const page of pages) expect(page?.headers['Cache-Control']).toBe('no-store');
  });

  it('allows only its own content and forbids frames', async () => {
    const { headers } = (await ask('/console/')) as PageAnswer;
    const policy = headers['Content-Security-Policy'] ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe-inline|unsafe-eval|\*|https?:/);
    expect(headers).toMatchObject({ 'Referrer-Policy': 'no-referrer', 'X-Content-Type-Options': 'nosniff' });
  });

  it('sends Strict-Transport-Security only if browsers reach the service by TLS', async () => {
    expect((await ask('/console/'))?.headers).not.toHaveProperty('Strict-Transport-Security');
    expect((await ask('/console/', {}, true))?.headers).toHaveProperty('Strict-Transport-Security');
  });

  it('redirects from the path without the slash', async () => {
    expect(await ask('/console')).toMatchObject({ status: 308, headers: { Location: '/console/' } });
  });

  it('is the target of a redirect from the root', async () => {
    const headers = { Location: '/console/', 'Cache-Control': 'no-store', Vary: 'Accept' };
    expect(await ask('/')).toEqual({ status: 302, headers });
  });
});

describe('a file of the console', () => {
  it('is cached for good and served compressed if the client accepts that', async () => {
    const small = await ask('/console/assets/index-1a.js', { acceptEncoding: 'gzip, br;q=0.5' });
    expect([textOf(small), small?.headers['Content-Encoding']]).toEqual(['small', 'br']);
    const plain = await ask('/console/assets/index-1a.js');
    expect([textOf(plain), plain?.headers['Content-Encoding']]).toEqual(['plain', undefined]);
    expect(plain?.headers).toMatchObject({
      'Cache-Control': expect.stringContaining('immutable'),
      Vary: 'Accept-Encoding',
    });
    expect(plain?.contentType).toMatch(/^text\/javascript/);
  });

  it('is not sent again to a client that has it', async () => {
    const { headers } = (await ask('/console/assets/index-1a.js')) as PageAnswer;
    const again = await ask('/console/assets/index-1a.js', { ifNoneMatch: `"other", W/${headers['ETag'] ?? ''}` });
    expect([again?.status, again?.body]).toEqual([304, undefined]);
    expect((await ask('/console/assets/index-1a.js', { ifNoneMatch: '"other"' }))?.status).toBe(200);
  });

  it.each(['gone.js', '../index.html', '..%2findex.html', 'index-1a.js.br', ''])('is not found at %s', async (name) => {
    expect(await ask(`/console/assets/${name}`)).toBeUndefined();
  });
});

it('openConsoleSite says what to run if nothing has been built', async () => {
  await expect(openConsoleSite({ folder: join(folder, 'nowhere'), tls: false })).rejects.toThrow('npm run setup');
});

it('openConsoleSite reports an error of the system as such, not as a missing build', async () => {
  const refused = mkdtempSync(join(tmpdir(), 'gannet-console-'));
  mkdirSync(join(refused, 'index.html'));
  await expect(openConsoleSite({ folder: refused, tls: false })).rejects.toMatchObject({ code: 'EISDIR' });
  rmSync(refused, { recursive: true });
});
