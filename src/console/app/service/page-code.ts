/**
 * Loads the code of a page on first use. If that fails, the router reloads the whole page, since an updated service has
 * other files. While the service is unreachable, that would show the browser's own error page, which does not recover
 * by itself; so a PageOutOfReach is thrown instead.
 */
import { lazyRouteComponent } from '@tanstack/react-router';
import { useEffect } from 'react';
import { ConnectionLost } from './client.js';

const RETRY_MS = 2_000;
/** A service that takes longer to answer is not reached. */
const REACHED_MS_MAX = 30_000;

export class PageOutOfReach extends ConnectionLost {}

/** Returns a component of the loaded code. Throws a PageOutOfReach if the service is unreachable. */
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

/** Reloads the page once the service is reachable. `isAway` is true if the page could not be loaded. */
export function useReturn(isAway: boolean): void {
  useEffect(() => {
    if (!isAway) return;
    void reloadOnceReached();
    const timer = setInterval(() => void reloadOnceReached(), RETRY_MS);
    return () => clearInterval(timer);
  }, [isAway]);
}

/** True from an attempt's begin until it fails, or the page is left. */
let isReturning = false;

/**
 * One attempt at a time: a service that answers slowly would be asked more and more, and each reload would end the one
 * before it.
 */
export async function reloadOnceReached(): Promise<void> {
  if (isReturning) return;
  isReturning = true;
  if (!(await isReached())) {
    isReturning = false;
    return;
  }
  await forgetLostCode();
  window.location.reload();
}

/**
 * Fetches the files anew: WebKit remembers a failed load, and does not retry even after a reload, until the file was
 * fetched otherwise.
 */
async function forgetLostCode(): Promise<void> {
  const files = document.querySelectorAll<HTMLLinkElement>('link[rel=modulepreload]');
  await Promise.allSettled([...files].map(({ href }) => fetch(href, { cache: 'reload' })));
}

/** Checks for success, since a proxy answers even without a service behind it. */
async function isReached(): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(REACHED_MS_MAX);
    return (await fetch('/console/', { method: 'HEAD', cache: 'no-store', signal })).ok;
  } catch {
    return false;
  }
}
