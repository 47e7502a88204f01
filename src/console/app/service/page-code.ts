/**
 * The code of a page, which is loaded once somebody goes there. Where it cannot be, the router loads the whole page anew, for a service that was
 * updated has other files. While nothing is reached, that would leave the browser's own page, which does not come back by itself.
 */
import { lazyRouteComponent } from '@tanstack/react-router';
import { useEffect } from 'react';
import { ConnectionLost } from './client.js';

const RETRY_MS = 2_000;

export class PageOutOfReach extends ConnectionLost {}

/** A component of the code; a PageOutOfReach is thrown in its place where nothing is reached. */
export function pageOf<Module extends Record<string, unknown>, Name extends keyof Module>(
  load: () => Promise<Module>,
  name: Name,
) {
  const loadReached = async (): Promise<Module> => {
    try {
      return await load();
    } catch (error) {
      throw (await isReached()) ? error : new PageOutOfReach('The service cannot be reached.');
    }
  };
  return lazyRouteComponent(loadReached, name);
}

/** Shows the page once it can be. `isAway`: it could not be. */
export function useReturn(isAway: boolean): void {
  useEffect(() => {
    if (!isAway) return;
    void reloadOnceReached();
    const timer = setInterval(() => void reloadOnceReached(), RETRY_MS);
    return () => clearInterval(timer);
  }, [isAway]);
}

export async function reloadOnceReached(): Promise<void> {
  if (!(await isReached())) return;
  await forgetLostCode();
  window.location.reload();
}

/** WebKit keeps that a file did not come, and asks for it no more, loaded anew or not, until it has come in another way. */
async function forgetLostCode(): Promise<void> {
  const files = document.querySelectorAll<HTMLLinkElement>('link[rel=modulepreload]');
  await Promise.allSettled([...files].map(({ href }) => fetch(href, { cache: 'reload' })));
}

/** A proxy that has no service behind it answers, too. */
async function isReached(): Promise<boolean> {
  try {
    return (await fetch('/console/', { method: 'HEAD', cache: 'no-store' })).ok;
  } catch {
    return false;
  }
}
