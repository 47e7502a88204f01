/** A real Chromium for tests of the console, where the machine has one. */
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { chromium, type Browser, type BrowserContext, type Page, type Request, type Route } from 'playwright-core';
import { CHROMIUM_ARGUMENTS, chromiumPath } from '../../scripts/lib/chromium.mjs';
import { afterEach } from 'vitest';
import { eventually } from './eventually.js';
import type { TestService } from './service.js';

export const CHROMIUM = chromiumPath();
export const NO_CHROMIUM = 'there is no Chromium; `node scripts/install-chromium.mjs` installs the one of Debian';

const ASKED_BY_NOBODY = '/asked-by-nobody';
/** Only what hangs takes so long. */
const WAIT_MS_MAX = Number(process.env['GANNET_TEST_WAIT_MS'] ?? 240_000);
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Those that tests of this file have opened. */
const opened = new Set<Page>();
const SHOWN_CHARACTERS_MAX = 4000;

// Of what a browser showed when a test failed, nothing else is left.
afterEach(async ({ task }) => {
  if (task.result?.state !== 'fail') return;
  for (const page of [...opened].filter((each) => !each.isClosed())) {
    const shown = await page.locator('body').ariaSnapshot({ timeout: 10_000 }).catch(String);
    const focused = await page.evaluate<string>('document.activeElement?.outerHTML.slice(0, 300)').catch(String);
    console.log(
      `${task.name} failed at ${page.url()}, where ${focused} had the focus:\n${shown.slice(-SHOWN_CHARACTERS_MAX)}`,
    );
  }
});

/** `more`: arguments beside those of all tests. */
export async function startChromium(more: readonly string[] = []): Promise<Browser> {
  if (CHROMIUM === undefined) throw new Error(NO_CHROMIUM);
  return chromium.launch({ executablePath: CHROMIUM, args: [...CHROMIUM_ARGUMENTS, ...more] });
}

export interface OpenPage {
  readonly context: BrowserContext;
  readonly page: Page;
  /** What the page complained of: errors of scripts, and what its policy refused. */
  readonly complaints: string[];
}

/** A page of a browser that nobody is signed in to. */
export async function openPage(
  browser: Browser,
  options: Parameters<Browser['newContext']>[0] = {},
): Promise<OpenPage> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, ...options });
  context.setDefaultTimeout(WAIT_MS_MAX);
  holdFromThenOn(context, () => context.pages());
  const page = await context.newPage();
  holdFromThenOn(page, () => [page]);
  watchRequests(page);
  opened.add(page);
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    if (/Content Security Policy|Uncaught/.test(message.text())) complaints.push(message.text());
  });
  return { context, page, complaints };
}

/**
 * Has `route` resolve when what these pages ask for passes through it: a page takes some time from a first one on, and the requests of a key
 * pressed right then went by. A route that is there from the beginning has all files of the console pass through the test, and fetched anew for
 * each page: with one there is no cache.
 */
function holdFromThenOn(routed: Pick<BrowserContext, 'route' | 'unroute'>, pages: () => readonly Page[]): void {
  const route = routed.route.bind(routed);
  routed.route = async (...what) => {
    const held = await route(...what);
    const loaded = pages().filter((page) => page.url().startsWith('http'));
    if (loaded.length === 0) return held;
    const answer = (asked: Route) => asked.fulfill({ status: 204 });
    await route(`**${ASKED_BY_NOBODY}`, answer);
    for (const page of loaded) {
      await eventually(
        () => page.evaluate<number>(`fetch('${ASKED_BY_NOBODY}').then(({ status }) => status)`),
        (status) => status === 204,
      );
    }
    await routed.unroute(`**${ASKED_BY_NOBODY}`, answer);
    return held;
  };
}

/** A link that signs the first owner in, as `gannet console link` prints it. */
export async function oneTimeLink(service: TestService): Promise<string> {
  const { body, text, status } = await service.control().post('/contributor/default/link', {});
  if (status !== 201) throw new Error(`No link was made: ${text}`);
  const { link } = body as { link: string };
  return `${service.address}/console/${link.slice(link.indexOf('#'))}`;
}

export async function signIn(service: TestService, { page }: OpenPage): Promise<void> {
  await page.goto(await oneTimeLink(service));
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL(/\/console\/default/);
}

/** Somebody of this role, who comes by an invitation and chooses a password. */
export async function signInAs(service: TestService, { page }: OpenPage, role: 'editor' | 'viewer'): Promise<void> {
  const invited = { email: `${role}@example.com`, role };
  const { body, text, status } = await service.control().post('/contributor/default/link', invited);
  if (status !== 201) throw new Error(`Nobody was invited: ${text}`);
  const { link } = body as { link: string };
  await page.goto(`${service.address}/console/${link.slice(link.indexOf('#'))}`);
  await page.getByRole('textbox', { name: 'New password' }).fill('correct horse battery');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL(/\/console\/default/);
}

/**
 * On to another page of the console that `page` has open, as its links lead there: by its address, and nothing is loaded anew, which is nine tenths
 * of what a page takes. Resolves once the text is there and is not one of the page before, where there is one: the page that is shown stays as it is.
 */
export async function goOn(page: Page, address: string, text: string): Promise<void> {
  await page.evaluate<void>(`${leaveFor(address)}; history.pushState({}, '', ${JSON.stringify(address)})`);
  await page
    .getByText(text)
    .and(page.locator(`:not([${LEFT}])`))
    .first()
    .waitFor();
}

const LEFT = 'data-left';
/** What is there now stays known, unless it is what is wanted. A text: these tests are not compiled for a browser. */
const leaveFor = (address: string) => `if (!${isThere(address)})
  for (const each of document.body.querySelectorAll('*')) each.toggleAttribute('${LEFT}', true)`;
/** A slash at the end is none of an address. */
const isThere = (address: string) =>
  `(location.pathname.replace(/\\/$/, '') + location.search === ${JSON.stringify(address.replace(/\/$/, ''))})`;

/** The command palette. What is typed before it has the focus goes to the page beneath. */
export async function openPalette(page: Page): Promise<void> {
  await page.keyboard.press('Control+k');
  await page.locator('[role=dialog] input:focus').waitFor();
}

/** What a click has the page copy, which it has done some time after the click. The context needs both rights to the clipboard. */
export async function copiedBy(page: Page, click: () => Promise<void>): Promise<string> {
  await page.evaluate("navigator.clipboard.writeText('')");
  await click();
  return eventually(
    () => page.evaluate<string>('navigator.clipboard.readText()'),
    (text) => text !== '',
  );
}

/** By page: what it has asked for and not got yet, but for events, of which there are always more to come. */
const asking = new WeakMap<Page, Set<Request>>();

function watchRequests(page: Page): void {
  const open = new Set<Request>();
  asking.set(page, open);
  page.on('request', (request) => {
    if (request.resourceType() !== 'eventsource') open.add(request);
  });
  page.on('requestfinished', (request) => open.delete(request));
  page.on('requestfailed', (request) => open.delete(request));
}

/** Resolves when all that a page of `openPage` has asked for is there, is shown, and stands still. */
export async function settled(page: Page): Promise<void> {
  const open = asking.get(page) ?? new Set();
  do {
    await eventually(
      () => Promise.resolve([...open].map((request) => request.url())),
      (urls) => urls.length === 0,
    );
    // What came is drawn, and only then asks for more.
    await page.evaluate(STANDS_STILL);
  } while (open.size > 0);
}

/** Of what moves for ever, such as a sign that something is being waited for, there is no end. A text: these tests are not compiled for a browser. */
const STANDS_STILL = `(async () => {
  const drawn = () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
  const moving = () => document.getAnimations().filter((each) => Number.isFinite(each.effect?.getComputedTiming().endTime));
  for (await drawn(); moving().length > 0; await drawn()) await Promise.allSettled(moving().map(({ finished }) => finished));
})()`;

export interface Violation {
  readonly rule: string;
  readonly nodes: readonly string[];
}

/** What axe finds wrong with the page once it is whole: what is half faded in has too little contrast. */
export async function violationsOf(page: Page): Promise<Violation[]> {
  await settled(page);
  // Past the policy of the page, which lets no script in that is not its own. Whoever went on in the page has it there.
  if (!(await page.evaluate<boolean>("'axe' in globalThis"))) await page.evaluate(AXE);
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as {
      axe: {
        run: (
          options: object,
        ) => Promise<{ violations: { id: string; nodes: { html: string; failureSummary?: string }[] }[] }>;
      };
    };
    const { violations } = await axe.run({ resultTypes: ['violations'] });
    return violations.map(({ id, nodes }) => ({
      rule: id,
      nodes: nodes.map(({ html, failureSummary }) => `${html.slice(0, 200)} ${failureSummary ?? ''}`),
    }));
  });
}
