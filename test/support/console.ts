/**
 * Opens the console of a separate service in a real Chromium, with an owner signed in, as most tests of the console
 * need.
 */
import { afterAll, beforeAll } from 'vitest';
import type { Browser, Page, Response } from 'playwright-core';
import { CHROMIUM, NO_CHROMIUM, openPage, signIn, startChromium, type OpenPage } from './browser.js';
import { startTestService, type TestService } from './service.js';
import { describeWhere } from './skip.js';

export interface OpenConsole {
  readonly service: TestService;
  readonly browser: Browser;
  readonly open: OpenPage;
  readonly page: Page;
  /** Visits a path below the account. */
  visit(path: string): Promise<Response | null>;
}

interface ConsoleOptions {
  /** Environment of the service. */
  readonly env?: Readonly<Record<string, string>>;
  readonly context?: Parameters<Browser['newContext']>[0];
  /** Called before the sign-in. */
  readonly fill: (service: TestService) => Promise<unknown>;
}

/** Defines tests whose argument is filled before the first of them runs. */
export function describeConsole(title: string, options: ConsoleOptions, tests: (its: OpenConsole) => void): void {
  const { env = {}, context = {}, fill } = options;
  describeWhere(CHROMIUM !== undefined, NO_CHROMIUM)(title, () => {
    const its = {} as { -readonly [Name in keyof OpenConsole]: OpenConsole[Name] };
    beforeAll(async () => {
      [its.service, its.browser] = await Promise.all([startTestService({ env }), startChromium()]);
      await fill(its.service);
      its.open = await openPage(its.browser, context);
      its.page = its.open.page;
      its.visit = (path) => its.page.goto(`${its.service.address}/console/default/${path}`);
      await signIn(its.service, its.open);
    });
    afterAll(async () => {
      await its.browser.close();
      await its.service.close();
    });
    tests(its);
  });
}
