/**
 * What is typed into a page outlives the session: where that ends meanwhile, the sign-in is shown over the page and not in the place of it.
 * Loaded before anything is shown.
 */
import { useSyncExternalStore } from 'react';

let hasTyped = false;
let isAsked = false;
const listeners = new Set<() => void>();

addEventListener(
  'input',
  () => {
    hasTyped = true;
  },
  { capture: true },
);
// It would close the form beneath, which listens for it as well, but later.
addEventListener(
  'keydown',
  (event) => {
    if (isAsked && event.key === 'Escape') event.stopImmediatePropagation();
  },
  { capture: true },
);

/** Whether something was typed since the page was come to, which may be lost with it. */
export function typedHere(): boolean {
  return hasTyped;
}

export function pageIsLeft(): void {
  hasTyped = false;
  askOverPage(false);
}

/** Shows the sign-in over the page, or takes it away. */
export function askOverPage(wanted: boolean): void {
  isAsked = wanted;
  for (const tell of listeners) tell();
}

export function useIsAsked(): boolean {
  return useSyncExternalStore(listen, () => isAsked);
}

function listen(tell: () => void): () => void {
  listeners.add(tell);
  return () => listeners.delete(tell);
}
