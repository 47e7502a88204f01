/** Copies text to the clipboard on the press of a button. */
import { useEffect, useState } from 'react';
import { text } from '../messages/index.js';

const TOLD_MS = 2_000;

interface Copying {
  /** Success or failure, shown on the button for two seconds; otherwise undefined. */
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

/** Call directly in the event handler: browsers allow copying only then. */
async function isCopied(value: string): Promise<boolean> {
  // Undefined on a page opened over plain HTTP from another machine.
  const { clipboard } = navigator as { readonly clipboard?: Clipboard };
  if (clipboard === undefined) return isCopiedAsSelected(value);
  try {
    await clipboard.writeText(value);
    return true;
  } catch {
    // Refused by the browser or its user.
    return isCopiedAsSelected(value);
  }
}

/** Copies through a selection and the legacy copy command, which works everywhere. */
function isCopiedAsSelected(value: string): boolean {
  const focused = document.activeElement;
  const box = Object.assign(document.createElement('textarea'), { value, readOnly: true });
  // Invisible, and fixed so that selecting does not scroll.
  Object.assign(box.style, { position: 'fixed', inset: '0 auto auto 0', opacity: '0' });
  document.body.append(box);
  box.select();
  const done = document.execCommand('copy');
  box.remove();
  if (focused instanceof HTMLElement) focused.focus({ preventScroll: true });
  return done;
}
