/** Tests the search preview beyond a single search: two searches side by side, and the search as code for a program. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { copiedBy, violationsOf } from '../support/browser.js';
import { describeConsole } from '../support/console.js';
import { searchQuery } from '../../src/operations/index.js';
import { whyWithout } from '../support/programs.js';
import type { TestService } from '../support/service.js';
import { itWhere } from '../support/skip.js';

const run = promisify(execFile);

async function fill({ client }: TestService): Promise<void> {
  await client.post('/list/default', {
    name: 'birds',
    searchable_fields: [{ name: 'title' }],
    facets: [{ name: 'size', type: 'number' }],
  });
  const birds = ['small gannet', 'great gannet of the north', "gannet's friend, the gannet", 'puffin'];
  await client.bulk(
    'default',
    'birds',
    birds.map((title, index) => ({ name: `bird-${index}`, title, size: index })),
  );
}

const context = { permissions: ['clipboard-read', 'clipboard-write'] };

describeConsole('the search preview', { fill, context }, (its) => {
  const hitsOf = (side: string) => its.page.getByRole('list', { name: `Hits: ${side}` }).getByRole('listitem');

  it('compares two searches side by side, shows what moved, and keeps both in the URL', async () => {
    await its.visit('list/birds/search?query=gannet');
    await its.page.getByRole('button', { name: 'Compare…' }).click();
    await its.page.getByText('3 unchanged, 0 moved, 0 new, 0 missing.').waitFor();
    const other = its.page.getByRole('region', { name: 'Options: Search B' });
    await other.getByLabel(/^Order by/).fill('size desc');
    await expect
      .poll(() => hitsOf('Search B').getByRole('link').allInnerTexts())
      .toEqual(['bird-2', 'bird-1', 'bird-0']);
    const before = await hitsOf('Search A').getByRole('link').allInnerTexts();
    const after = ['bird-2', 'bird-1', 'bird-0'];
    for (const [place, name] of after.entries()) {
      const up = before.indexOf(name) - place;
      const hit = hitsOf('Search B').filter({ hasText: name });
      const told = up === 0 ? 0 : await hit.getByText(up > 0 ? `up ${up}` : `down ${-up}`).count();
      expect(told, name).toBe(up === 0 ? 0 : 1);
    }
    await other.getByLabel(/^Filter/).fill('size > 0');
    await its.page.getByText(/0 new, 1 missing\./).waitFor();
    await hitsOf('Search A').filter({ hasText: 'bird-0' }).getByText('missing').waitFor();
    expect(await violationsOf(its.page)).toEqual([]);
    expect(await hitsOf('Search A').count()).toBe(3);
    await its.page.reload();
    await its.page.getByText(/0 new, 1 missing\./).waitFor();
    await its.page.getByRole('button', { name: 'Stop comparing' }).click();
    await its.page.getByRole('list', { name: 'Hits', exact: true }).waitFor();
    expect(its.open.complaints).toEqual([]);
  });

  it('has a control for every search option of the service', async () => {
    const { properties } = searchQuery as { readonly properties: Readonly<Record<string, unknown>> };
    // The query has a box of its own, and paging is below the hits.
    const options = Object.keys(properties).filter((name) => name !== 'query' && name !== 'skip');
    await its.visit('list/birds/search?query=gannet');
    const panel = its.page.getByRole('region', { name: 'Search options' });
    await panel.getByText('More options').click();
    const controls = panel.locator('label');
    await expect.poll(() => controls.count()).toBe(options.length);
    const labels = await controls.allInnerTexts();
    const missing = options.filter((name) => !labels.some((label) => label.split(/\s+/).includes(name)));
    expect(missing).toEqual([]);
    expect(
      labels.every((label) => /\s/.test(label.trim())),
      'each says in words what it is',
    ).toBe(true);
  });

  it('shows how each word contributed to a score', async () => {
    await its.visit('list/birds/search?query=great%20ganet&explain=true');
    const hit = its.page.getByRole('list', { name: 'Hits' }).getByRole('listitem').first();
    await hit.getByText('Why this score?').click();
    const words = hit.getByRole('list', { name: 'Words' });
    await words.getByText('great', { exact: true }).waitFor();
    await words.getByText(/gannet \(typo\)/).waitFor();
    expect(await words.locator('.bar').count()).toBe(await words.getByRole('listitem').count());
    expect(await violationsOf(its.page)).toEqual([]);
  });

  it('shows the reason next to the search that was refused', async () => {
    await its.visit(
      `list/birds/search?query=gannet&compare=${encodeURIComponent(JSON.stringify('{"filter":"size >"}'))}`,
    );
    await its.page.getByRole('region', { name: 'Search B', exact: true }).getByRole('alert').waitFor();
    // Either of the two may be answered first.
    await expect.poll(() => hitsOf('Search A').count()).toBe(3);
  });

  const missing = whyWithout('bash', 'curl', 'python3');
  itWhere(missing === undefined, missing ?? '')('shows the search as programs that find the same', async () => {
    const { key } = await its.service.createKey({ access: 'search-and-read' });
    const env = { ...process.env, GANNET_KEY: key };
    // The query has characters that are special in shells and in each of the languages.
    const query = `gannet's "friend" \\ $HOME`;
    await its.visit(`list/birds/search?query=${encodeURIComponent(JSON.stringify(query))}&match=%22any%22`);
    const found = Number.parseInt(await its.page.getByText('found in').innerText(), 10);
    expect(found).toBeGreaterThan(0);
    const copied = async (language: string): Promise<string> => {
      await its.page.getByRole('button', { name: /Copy as…|Copied/ }).click();
      return copiedBy(its.page, () => its.page.getByRole('menuitem', { name: language }).click());
    };
    const programs: readonly (readonly [string, string[]])[] = [
      ['bash', ['-c', await copied('curl')]],
      [
        process.execPath,
        ['--input-type=module', '-e', `${await copied('TypeScript')}\nconsole.log(JSON.stringify({ total_count }))`],
      ],
      ['python3', ['-c', `${await copied('Python')}\nprint(json.dumps(answer))`]],
    ];
    for (const [program, args] of programs) {
      const { stdout } = await run(program, args, { env });
      expect(JSON.parse(stdout), program).toMatchObject({ total_count: found });
    }
  });

  it('copies code over plain HTTP as well, where browsers have no clipboard API, and says so if it cannot', async () => {
    const { page } = its;
    await its.visit('list/birds/search?query=gannet');
    await page.evaluate("window.heldClipboard = navigator.clipboard; heldClipboard.writeText('')");
    await page.evaluate('delete Navigator.prototype.clipboard');
    const copy = async (told: string): Promise<void> => {
      await page.getByRole('button', { name: 'Copy as…' }).click();
      await page.getByRole('menuitem', { name: 'curl' }).click();
      await page.getByRole('button', { name: told, exact: true }).waitFor();
    };
    await copy('Copied');
    expect(await page.evaluate<string>('heldClipboard.readText()')).toContain('"query":"gannet"');
    await page.evaluate('document.execCommand = () => false');
    await copy('Could not copy');
  });
});
