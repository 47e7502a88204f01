/**
 * Keeps what was typed into a page when the session ends: the sign-in is then shown over the page instead of replacing
 * it. Loaded before anything is shown.
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
// Otherwise Escape would also close the form underneath, whose listener comes later.
addEventListener(
  'keydown',
  (event) => {
    if (isAsked && event.key === 'Escape') event.stopImmediatePropagation();
  },
  { capture: true },
);

/** True if something was typed since the page was opened, and may be lost. */
export function typedHere(): boolean {
  return hasTyped;
}

export function pageIsLeft(): void {
  hasTyped = false;
  askOverPage(false);
}

/** Shows or hides the sign-in over the page. */
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
