/** What a press of a button copies. */
import { useEffect, useState } from 'react';
import { text } from '../messages/index.js';

const TOLD_MS = 2_000;

interface Copying {
  /** What the button says for two seconds, whether it was copied or could not be; undefined before and after. */
  readonly told: string | undefined;
  readonly copy: (value: string) => void;
}

export function useCopying(): Copying {
  const [outcome, setOutcome] = useState<{ readonly isCopied: boolean }>();
  useEffect(() => {
    if (outcome === undefined) return;
    const timer = setTimeout(() => {
      setOutcome(undefined);
    }, TOLD_MS);
    return () => {
      clearTimeout(timer);
    };
  }, [outcome]);
  const told = outcome?.isCopied === true ? text.common.copied : text.common.notCopied;
  return {
    told: outcome === undefined ? undefined : told,
    copy: (value) => {
      void isCopied(value).then((done) => {
        setOutcome({ isCopied: done });
      });
    },
  };
}

/** To be called as a button is pressed: browsers let a page copy then. */
async function isCopied(value: string): Promise<boolean> {
  // Not on a page that was opened over plain HTTP from another machine.
  const { clipboard } = navigator as { readonly clipboard?: Clipboard };
  if (clipboard === undefined) return isCopiedAsSelected(value);
  try {
    await clipboard.writeText(value);
    return true;
  } catch {
    // By the browser, or by who uses it.
    return isCopiedAsSelected(value);
  }
}

/** As if somebody had selected it on the page, and by the command of their keyboard: of old, and everywhere. */
function isCopiedAsSelected(value: string): boolean {
  const focused = document.activeElement;
  const box = Object.assign(document.createElement('textarea'), { value, readOnly: true });
  // Seen by nobody, where the page is: to be selected scrolls nothing.
  Object.assign(box.style, { position: 'fixed', inset: '0 auto auto 0', opacity: '0' });
  document.body.append(box);
  box.select();
  const done = document.execCommand('copy');
  box.remove();
  if (focused instanceof HTMLElement) focused.focus({ preventScroll: true });
  return done;
}
