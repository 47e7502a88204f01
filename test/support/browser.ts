/** Runs a real Chromium for tests of the console, if the machine has one. */
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
/** Only reached if something hangs. */
const WAIT_MS_MAX = Number(process.env['GANNET_TEST_WAIT_MS'] ?? 240_000);
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Pages opened by tests of this file. */
const opened = new Set<Page>();
const SHOWN_CHARACTERS_MAX = 4000;

// Shows the state of the browser when a test fails, since nothing else is left of it.
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

/** `more` has arguments besides those of all tests. */
export async function startChromium(more: readonly string[] = []): Promise<Browser> {
  if (CHROMIUM === undefined) throw new Error(NO_CHROMIUM);
  return chromium.launch({ executablePath: CHROMIUM, args: [...CHROMIUM_ARGUMENTS, ...more] });
}

export interface OpenPage {
  readonly context: BrowserContext;
  readonly page: Page;
  /** Script errors and policy violations of the page. */
  readonly complaints: string[];
}

/** Opens a page without a session. */
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
 * Makes `route` resolve only when requests of these pages pass through it: a page applies a first route with a delay,
 * so that the requests of an immediate key press would bypass it. A permanent route is no alternative: all files of the
 * console would pass through the test, and without a cache.
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

/** Returns a link that signs in the first owner, as `gannet console link` prints it. */
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

/** Signs in a person with this role, who is invited and chooses a password. */
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
 * Navigates within the open console, as its links do. Loads nothing again, which is nine tenths of the time of a page
 * load. Resolves when the text is there, and not as a part of the previous page.
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
/**
 * Marks the current elements, unless the page is the wanted one already. A string, since these tests are not compiled
 * for a browser.
 */
const leaveFor = (address: string) => `if (!${isThere(address)})
  for (const each of document.body.querySelectorAll('*')) each.toggleAttribute('${LEFT}', true)`;
/** Ignores a slash at the end of an address. */
const isThere = (address: string) =>
  `(location.pathname.replace(/\\/$/, '') + location.search === ${JSON.stringify(address.replace(/\/$/, ''))})`;

/** Opens the command palette and waits for its focus: text typed earlier would go to the page underneath. */
export async function openPalette(page: Page): Promise<void> {
  await page.keyboard.press('Control+k');
  await page.locator('[role=dialog] input:focus').waitFor();
}

/**
 * Returns what a click copies to the clipboard, which happens some time later. The context needs both clipboard
 * permissions.
 */
export async function copiedBy(page: Page, click: () => Promise<void>): Promise<string> {
  await page.evaluate("navigator.clipboard.writeText('')");
  await click();
  return eventually(
    () => page.evaluate<string>('navigator.clipboard.readText()'),
    (text) => text !== '',
  );
}

/** Pending requests by page, without event streams, which never end. */
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

/** Resolves when all requests of a page of `openPage` are answered, rendered, and animations have ended. */
export async function settled(page: Page): Promise<void> {
  const open = asking.get(page) ?? new Set();
  do {
    await eventually(
      () => Promise.resolve([...open].map((request) => request.url())),
      (urls) => urls.length === 0,
    );
    // Rendering may start further requests.
    await page.evaluate(STANDS_STILL);
  } while (open.size > 0);
}

/**
 * Waits for animations except endless ones, such as a loading indicator. A string, since these tests are not compiled
 * for a browser.
 */
const STANDS_STILL = `(async () => {
  const drawn = () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
  const moving = () => document.getAnimations().filter((each) => Number.isFinite(each.effect?.getComputedTiming().endTime));
  for (await drawn(); moving().length > 0; await drawn()) await Promise.allSettled(moving().map(({ finished }) => finished));
})()`;

export interface Violation {
  readonly rule: string;
  readonly nodes: readonly string[];
}

/** Returns what axe finds wrong once the page has settled: half faded-in text has too little contrast. */
export async function violationsOf(page: Page): Promise<Violation[]> {
  await settled(page);
  // Injected past the page's policy, which allows only its own scripts. It stays there during navigation within the
  // page.
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
