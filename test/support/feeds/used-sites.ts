/** Websites that last as long as a test. */
import { afterEach } from 'vitest';
import { MadeSite, type MadePage } from './made-site.js';

/** What is put in is closed when the test that did so has ended. */
export function sitesOfEachTest(): MadeSite[] {
  const sites: MadeSite[] = [];
  afterEach(async () => {
    await Promise.all(sites.splice(0).map((site) => site.close()));
  });
  return sites;
}

/** What makes a site of these pages, closed like those. */
export function siteMaker(): (pages: Readonly<Record<string, MadePage>>) => Promise<MadeSite> {
  const sites = sitesOfEachTest();
  return async (pages) => {
    const site = await MadeSite.start(pages);
    sites.push(site);
    return site;
  };
}
