/**
 * Tests every page by keyboard alone: Tab reaches everything that can be pressed, the focus is visible, and nothing
 * traps it.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { settled } from '../support/browser.js';
import { describeConsole } from '../support/console.js';
import { eventually } from '../support/eventually.js';
import { jpegOf } from '../support/pictures.js';
import type { TestService } from '../support/service.js';

const ROUTER = readFileSync(join(import.meta.dirname, '../../src/console/app/router.tsx'), 'utf8');
const ROUTE = /const (\w+) = createRoute\(\{\s+getParentRoute: \(\) => (\w+),\s+path: '([^']+)',(.*?)\n\}\);/gs;

const PAGES = [
  ['', 'Drop a file here'],
  ['lists', 'Create empty list'],
  ['list/birds/search?query=gannet', 'found in'],
  ['list/birds/records', 'Add record'],
  ['list/birds/fields', 'Add facet'],
  ['list/birds/synonyms', 'Suggest synonyms'],
  ['list/birds/rules', 'Add query rule'],
  ['list/birds/suggestions', 'Learned suggestions'],
  ['list/birds/analytics', 'Top searches'],
  ['list/birds/settings', 'Follow feed'],
  ['list/prints/search?query=print', 'Search by picture'],
  ['list/prints/search?picture=%22media%3Adefault%2Fa.jpg%22', 'Hits for this picture'],
  ['groups', 'Create group'],
  ['group/all?query=gannet', 'Top searches'],
  ['feeds', 'Connect feed'],
  ['files', 'Add media store'],
  ['files/default', 'a.jpg'],
  ['models', 'Add model'],
  ['keys', 'Create API key'],
  ['webhooks', 'Create webhook'],
  ['people', 'Invite person'],
  ['plan', 'Searches this month'],
  ['profile', 'Active sessions'],
  ['health', 'All measurements'],
  ['settings', 'search.deadline_ms'],
] as const;
/** More than any of these pages has. */
const STEPS_MAX = 400;

/** Creates a list with texts, and one with pictures. */
async function fill({ client }: TestService): Promise<void> {
  await client.post('/list/default', { name: 'birds', searchable_fields: [{ name: 'title' }] });
  await client.post('/search-result/default/birds', { name: 'one', fields: { title: 'The gannet' } });
  await client.post('/list-group/default', { name: 'all', lists: [{ list: 'birds' }] });
  await client.post('/list/default', {
    name: 'prints',
    image_model: 'built-in',
    searchable_fields: [{ name: 'title' }],
    resources: [{ name: 'print', kind: 'image' }],
  });
  const headers = { 'Content-Type': 'image/jpeg' };
  await client.send('PUT', '/media/default/default/a.jpg', { bytes: await jpegOf(1), headers });
  const fields = { title: 'A print', print: 'media:default/a.jpg' };
  await client.post('/search-result/default/prints', { name: 'one', fields });
  await eventually(
    async () => (await client.get('/list/default/prints')).body as { resources_state: { read: number } },
    ({ resources_state }) => resources_state.read === 1,
  );
}

it('Every page of an account is among the tested pages', () => {
  const addresses: Record<string, string> = { account: '' };
  const pages: string[] = [];
  // A route comes after its parent.
  for (const [, name = '', parent = '', path = '', rest = ''] of ROUTER.matchAll(ROUTE)) {
    const above = addresses[parent];
    if (above === undefined || name === 'account') continue;
    addresses[name] = `${above}${path}`;
    if (rest.includes('component:')) pages.push(addresses[name]);
  }
  expect(pages.length).toBeGreaterThan(15);
  const missing = pages.filter((page) => !PAGES.some(([tried]) => fits(page, tried.replace(/\?.*/, ''))));
  expect(missing, 'PAGES has no row for these addresses of src/console/app/router.tsx').toEqual([]);
});

/** Says whether a tested address is at this page, or inside it. */
function fits(page: string, tried: string): boolean {
  const [parts, given] = [page, tried].map((each) => each.split('/').filter((part) => part !== ''));
  return parts?.every((part, at) => (part.startsWith('$') ? at < (given?.length ?? 0) : part === given?.[at])) === true;
}

describeConsole('the console by keyboard', { fill }, (its) => {
  it.each(PAGES)(
    'reaches everything on %s with Tab, shows the focus, and leaves the page again',
    async (path, text) => {
      await its.visit(path);
      await its.page.getByText(text).first().waitFor();
      await settled(its.page);
      await its.page.evaluate(MARK);
      const unseen: string[] = [];
      let isThrough = false;
      for (let step = 0; step < STEPS_MAX && !isThrough; step += 1) {
        await its.page.keyboard.press('Tab');
        const at = await its.page.evaluate<{ name: string; isSeen: boolean; isOut: boolean }>(FOCUSED);
        isThrough = at.isOut;
        if (!at.isOut && !at.isSeen) unseen.push(at.name);
      }
      expect(isThrough, 'Tab comes to the end of the page').toBe(true);
      expect(unseen, 'what has the focus is marked').toEqual([]);
      expect(await its.page.evaluate<string[]>(MISSED), 'nothing is left out').toEqual([]);
    },
  );

  it('opens a form, keeps Tab inside, closes it with Escape, and restores the focus', async () => {
    for (const [path, button] of [
      ['keys', 'Create API key'],
      ['groups', 'Create group'],
      ['people', 'Invite person'],
    ] as const) {
      await its.visit(path);
      await its.page.getByRole('button', { name: button }).first().focus();
      await its.page.keyboard.press('Enter');
      const dialog = its.page.getByRole('dialog');
      // Before the focus has moved into the dialog, Tab goes on in the page underneath.
      await dialog.locator(':focus').waitFor();
      // If the palette opened over the dialog, Escape would close both.
      await its.page.keyboard.press('Control+k');
      for (let step = 0; step < 60; step += 1) {
        await its.page.keyboard.press('Tab');
        expect(await its.page.evaluate<boolean>("document.activeElement.closest('[role=dialog]') !== null")).toBe(true);
      }
      await its.page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
      await expect.poll(() => its.page.evaluate<string>('document.activeElement.textContent')).toContain(button);
    }
  });
});

// These are strings, as these tests are not compiled for a browser.
const PRESSABLE = `[...document.querySelectorAll('a[href], button, input, select, textarea, summary')].filter((each) =>
  !each.disabled && each.tabIndex >= 0 && each.checkVisibility({ checkVisibilityCSS: true }) && each.type !== 'hidden')`;
const NAME = `(each) => each.tagName + ' ' + (each.getAttribute('aria-label') ?? each.textContent ?? '').slice(0, 60)`;
/** Starts at the first element, wherever the page has put the focus by itself. */
const MARK = `(() => { const [first] = ${PRESSABLE}; first.focus(); window.reached = new Set([first]); return true; })()`;
const FOCUSED = `(() => {
  const at = document.activeElement;
  if (at === null || at === document.body) return { name: '', isSeen: true, isOut: true };
  if (window.reached.has(at)) return { name: '', isSeen: true, isOut: true };
  window.reached.add(at);
  const isMarked = (each) => {
    const style = getComputedStyle(each);
    return (style.outlineStyle !== 'none' && style.outlineWidth !== '0px') || style.boxShadow !== 'none' || each.matches('input, select, textarea');
  };
  const isSeen = at.matches(':focus-visible') && (isMarked(at) || (at.parentElement !== null && isMarked(at.parentElement)));
  return { name: (${NAME})(at), isSeen, isOut: false };
})()`;
/** Tab reaches only one of a group of radio buttons. */
const MISSED = `${PRESSABLE}.filter((each) => !window.reached.has(each) && each.type !== 'radio').map(${NAME})`;
