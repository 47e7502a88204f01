/** Tests a session that ends while something is typed: the text is kept for the same person. */
import { expect, it } from 'vitest';
import { openPage, settled, signInAs, violationsOf, type OpenPage } from '../support/browser.js';
import { describeConsole } from '../support/console.js';
import type { TestService } from '../support/service.js';

async function fill({ client }: TestService): Promise<void> {
  await client.post('/list/default', { name: 'birds', searchable_fields: [{ name: 'title' }] });
}

describeConsole('a session that ends', { fill }, (its) => {
  /** Opens a form for a new record with a name typed in, and removes the session. */
  async function signedOut(): Promise<OpenPage> {
    const open = await openPage(its.browser);
    await signInAs(its.service, open, 'editor');
    await open.page.goto(`${its.service.address}/console/default/list/birds/records?add=true`);
    await open.page.getByRole('textbox', { name: 'Name' }).fill('northern gannet');
    // No pending request notices the end of the session: the test's next click is the first.
    await settled(open.page);
    await open.context.clearCookies();
    return open;
  }
  const formOf = ({ page }: OpenPage) => page.getByRole('dialog', { name: 'Add record' });
  const askedIn = ({ page }: OpenPage) => page.getByRole('dialog', { name: 'Sign in' });
  const signInOver = async (open: OpenPage, email: string): Promise<void> => {
    await askedIn(open).getByLabel('Email').fill(email);
    await askedIn(open).getByRole('textbox', { name: 'Password' }).fill('correct horse battery');
    await askedIn(open).getByRole('button', { name: 'Sign in' }).click();
  };

  it('asks for a sign-in over the form, whose text can then be saved', async () => {
    const open = await signedOut();
    await formOf(open).getByRole('button', { name: 'Add record' }).click();
    await askedIn(open).getByText('Your session has ended').waitFor();
    expect(await askedIn(open).getByLabel('Email').inputValue()).toBe('editor@example.com');
    expect(await violationsOf(open.page)).toEqual([]);
    await open.page.keyboard.press('Escape');
    await signInOver(open, 'editor@example.com');
    await askedIn(open).waitFor({ state: 'detached' });
    expect(await formOf(open).getByRole('textbox', { name: 'Name' }).inputValue()).toBe('northern gannet');
    // The message is for people; that of the service is about API keys.
    await formOf(open).getByRole('alert').getByText('Sign in, then try again.').waitFor();
    await formOf(open).getByRole('button', { name: 'Add record' }).click();
    await formOf(open).waitFor({ state: 'detached' });
    await open.page.getByRole('button', { name: 'northern gannet' }).waitFor();
    await open.context.close();
  });

  it('continues after the person has signed in in another tab', async () => {
    const open = await signedOut();
    await formOf(open).getByRole('button', { name: 'Add record' }).click();
    await askedIn(open).waitFor();
    const [tab] = await Promise.all([
      open.context.waitForEvent('page'),
      askedIn(open).getByRole('link', { name: 'Sign in another way' }).click(),
    ]);
    await tab.getByLabel('Email').fill('editor@example.com');
    await tab.getByRole('textbox', { name: 'Password' }).fill('correct horse battery');
    await tab.getByRole('button', { name: 'Sign in' }).click();
    await tab.waitForURL(/\/console\/default/);
    await open.page.evaluate("window.dispatchEvent(new Event('visibilitychange'))");
    await askedIn(open).waitFor({ state: 'detached' });
    expect(await formOf(open).getByRole('textbox', { name: 'Name' }).inputValue()).toBe('northern gannet');
    await open.context.close();
  });

  it('shows the typed text to no other person, and discards it on leaving', async () => {
    const others = await openPage(its.browser);
    await signInAs(its.service, others, 'viewer');
    await others.context.close();
    for (const leave of [false, true]) {
      const open = await signedOut();
      await formOf(open).getByRole('button', { name: 'Add record' }).click();
      await askedIn(open).waitFor();
      if (leave) await askedIn(open).getByRole('button', { name: 'Leave and discard changes' }).click();
      else await signInOver(open, 'viewer@example.com');
      await formOf(open).waitFor({ state: 'detached' });
      await open.page.waitForURL(leave ? /sign-in\?to=/ : /\/console\/default$/);
      await open.context.close();
    }
  });

  it('reports that the browser does not keep the sign-in, and does not use up a link if cookies are off', async () => {
    const open = await signedOut();
    const { page } = open;
    await formOf(open).getByRole('button', { name: 'Add record' }).click();
    await askedIn(open).waitFor();
    // As if the browser accepted no cookie: later requests are anonymous.
    let sent = 0;
    await page.route('**/session', (route) => {
      if (route.request().method() !== 'POST') return route.fallback();
      sent += 1;
      return route.fulfill({ status: 201, json: {} });
    });
    await signInOver(open, 'editor@example.com');
    await askedIn(open).getByText('did not save the sign-in').waitFor();
    await page.goto(`${its.service.address}/console/#link=${'a'.repeat(43)}`);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('did not save the sign-in').waitFor();
    expect(sent).toBe(2);
    await page.evaluate("Object.defineProperty(Navigator.prototype, 'cookieEnabled', { get: () => false })");
    await page.getByLabel('New password').first().fill('correct horse battery');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await settled(page);
    await page.getByText('did not save the sign-in').waitFor();
    expect(sent).toBe(2);
    await open.context.close();
  });
});
