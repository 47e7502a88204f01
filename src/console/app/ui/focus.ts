import { useEffect, useState } from 'react';

/** Content of the page, which takes the focus if what had it is gone. */
const CONTENT = '#content';

/**
 * Gives the focus to this element, or to the content of the page if the element is gone. A keyboard would otherwise
 * begin again at the top of the page. Nothing happens if something else has the focus by then.
 */
export function returnFocus(to: Element | null): void {
  // What closes a dialog may move the focus itself, right after this.
  setTimeout(() => {
    if (document.activeElement !== null && document.activeElement !== document.body) return;
    const place = to?.isConnected === true && to !== document.body ? to : document.querySelector(CONTENT);
    if (place instanceof HTMLElement) place.focus({ preventScroll: true });
  });
}

/** Returns the focus to where it was when the component appeared, for dialogs that disappear without being closed. */
export function useFocusReturned(): void {
  const [before] = useState(() => document.activeElement);
  useEffect(
    () => () => {
      returnFocus(before);
    },
    [before],
  );
}
