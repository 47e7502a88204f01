import { useState } from 'react';

export interface Drafted<Value extends object> {
  /** What is there now, with what was typed in the place of it. */
  readonly value: Value;
  /** What was typed, where it differs from what is there: all that is to be changed. */
  readonly changes: Partial<Value>;
  readonly set: (change: Partial<Value>) => void;
  /** Members that are not among these are to be left out. */
  readonly replace: (next: Value) => void;
  /** Once it is saved. */
  readonly forget: () => void;
}

/**
 * What a form changes. Only what is typed is kept: the rest is what it has become meanwhile, in another tab or by somebody else, and is
 * not put back to what it was when the form was first shown.
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
