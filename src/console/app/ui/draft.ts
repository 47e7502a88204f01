import { useState } from 'react';

export interface Drafted<Value extends object> {
  /** Current value with the edits applied. */
  readonly value: Value;
  /** Edits that differ from the current value. */
  readonly changes: Partial<Value>;
  readonly set: (change: Partial<Value>) => void;
  /** Replaces all members; those not in `next` are removed. */
  readonly replace: (next: Value) => void;
  /** Discards the edits, after saving. */
  readonly forget: () => void;
}

/**
 * State of a form. Only edits are stored, so that other members follow changes from another tab or person, and are not
 * overwritten with their initial values.
 */
export function useDraft<Value extends object>(current: Value): Drafted<Value> {
  const [typed, setTyped] = useState<Partial<Value>>({});
  const value = { ...current, ...typed };
  const replace = (next: Value): void => {
    const names = Object.keys({ ...current, ...next }) as (keyof Value)[];
    const changed = names.filter((name) => !isSame(next[name], current[name]));
    setTyped(Object.fromEntries(changed.map((name) => [name, next[name]])) as Partial<Value>);
  };
  return {
    value,
    changes: typed,
    set: (change) => {
      replace({ ...value, ...change });
    },
    replace,
    forget: () => {
      setTyped({});
    },
  };
}

function isSame(one: unknown, other: unknown): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}
