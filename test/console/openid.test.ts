/** Tests signing in with OpenID Connect in a real browser, and where it leads afterwards. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CHROMIUM, NO_CHROMIUM, openPage, startChromium, violationsOf } from '../support/browser.js';
import { freePort } from '../support/free-port.js';
import { OpenIdProvider } from '../support/openid-provider.js';
import { startTestService, type TestService } from '../support/service.js';
import { describeWhere } from '../support/skip.js';

describeWhere(CHROMIUM !== undefined, NO_CHROMIUM)('sign-in by OpenID Connect', () => {
  let provider: OpenIdProvider;
  let service: TestService;
  let browser: Browser;

  beforeAll(async () => {
    const port = await freePort();
    [provider, browser] = await Promise.all([OpenIdProvider.start(), startChromium()]);
    service = await startTestService({
      env: {
        GANNET_PORT: String(port),
        GANNET_CONSOLE_PUBLIC_URL: `http://127.0.0.1:${port}`,
        GANNET_OPENID_ISSUER: provider.issuer,
        GANNET_OPENID_CLIENT_ID: 'gannet',
        GANNET_OPENID_NAME: 'Example',
        GANNET_OPENID_SIGN_UP: 'true',
        GANNET_PLANS_OFFERED: 'trial lists=2',
        GANNET_PLANS_SIGN_UP: 'trial',
        GANNET_OUTBOUND_LOOPBACK_ALLOWED: 'true',
      },
    });
    await service.control().post('/contributor/default/link', { email: 'ann@example.com', role: 'owner' });
  });
  afterAll(async () => {
    await browser.close();
    await service.close();
    await provider.close();
  });

  it.each([
    ['to the page that the person wanted', '/default/keys', /\/console\/default\/keys$/],
    ['to the console if the link names another host', '//evil.example/', /\/console\/default\/?$/],
    ['to the console if the link hides another host behind a backslash', '/\\evil.example', /\/console\/default\/?$/],
    ['to the console if the link is the URL of another host', 'https://evil.example/', /\/console\/default\/?$/],
  ])('leads %s after the sign-in', async (_what, to, expected) => {
    const { page, context, complaints } = await openPage(browser);
    await page.goto(`${service.address}/console/sign-in?to=${encodeURIComponent(to)}`);
    const button = page.getByRole('button', { name: 'Sign in with Example' });
    await button.waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await button.click();
    await page.waitForURL(expected);
    expect(new URL(page.url()).origin).toBe(service.address);
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('gives newcomers the plan that the page of plans names', async () => {
    const { page, context } = await openPage(browser);
    provider.claims = { ...provider.claims, email: 'kim@example.com', sub: 'kim' };
    await page.goto(`${service.address}/console/sign-in`);
    await page.getByRole('button', { name: 'Sign in with Example' }).click();
    await page.waitForURL(/\/console\/kim\/?$/);
    await page.goto(`${service.address}/console/kim/plan`);
    await page.getByText('This account is on the trial plan.').waitFor();
    await page.getByText('begin on the default plan, those of people who sign up on the trial plan.').waitFor();
    await context.close();
  });

  it('shows that the provider refused it, or that it was not started in this tab', async () => {
    const { page, context } = await openPage(browser);
    provider.denial = 'access_denied';
    await page.goto(`${service.address}/console/sign-in`);
    await page.getByRole('button', { name: 'Sign in with Example' }).click();
    await page.getByText('access_denied').waitFor();
    expect(await violationsOf(page)).toEqual([]);
    provider.denial = undefined;
    await page.goto(`${service.address}/console/openid?code=12345678901234567890&state=b`);
    await page.getByText('This sign-in was started in another tab').waitFor();
    expect(page.url()).not.toContain('code=');
    await page.getByRole('link', { name: 'Back to sign-in' }).click();
    await page.getByLabel('Email').waitFor();
    await context.close();
  });
});
