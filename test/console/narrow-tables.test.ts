/** Tests tables of an account on a phone, with long names. */
import { expect, it } from 'vitest';
import { describeConsole } from '../support/console.js';
import type { TestService } from '../support/service.js';

const context = { viewport: { width: 390, height: 844 } };
const ADDRESS = `https://hooks.example.com/${'a-very-long-path/'.repeat(12)}`;
const LONG_NAME = 'k'.repeat(64);

async function fill(service: TestService): Promise<void> {
  await service.client.post('/webhook', { url: ADDRESS, events: ['list.deleted'] });
  await service.createKey({ name: LONG_NAME });
}

describeConsole('tables on a phone', { context, fill }, (its) => {
  const widthOf = async (text: string) => (await its.page.getByText(text).boundingBox())?.width ?? 0;

  it('wrap a URL into lines of more than a letter or two', async () => {
    await its.visit('webhooks');
    await its.page.getByText(ADDRESS).waitFor();
    expect(await widthOf(ADDRESS)).toBeGreaterThan(200);
  });

  it('show when a key was created and its id in the log, and limit the width of a long name', async () => {
    await its.visit('keys');
    const row = its.page.getByRole('row', { name: LONG_NAME });
    await row.waitFor();
    expect(await row.locator('time').count()).toBeGreaterThan(0);
    expect(await row.getByTitle(/^keyId in the log: [0-9a-f-]{36}$/).count()).toBe(1);
    expect((await row.getByRole('rowheader').boundingBox())?.width).toBeLessThan(320);
  });

  it('show a time in one line', async () => {
    await its.visit('people');
    const moment = its.page.getByRole('row').locator('time').first();
    await moment.waitFor();
    expect((await moment.boundingBox())?.height).toBeLessThan(30);
  });
});
