/** Websites that last as long as a test. */
import { afterEach } from 'vitest';
import { MadeSite, type MadePage } from './made-site.js';

/** Returns an array whose sites are closed after the test that added them. */
export function sitesOfEachTest(): MadeSite[] {
  const sites: MadeSite[] = [];
  afterEach(async () => {
    await Promise.all(sites.splice(0).map((site) => site.close()));
  });
  return sites;
}

/** Returns a function that creates a site with these pages, closed after the test. */
export function siteMaker(): (pages: Readonly<Record<string, MadePage>>) => Promise<MadeSite> {
  const sites = sitesOfEachTest();
  return async (pages) => {
    const site = await MadeSite.start(pages);
    sites.push(site);
    return site;
  };
}
