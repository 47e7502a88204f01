import { Button, Group, Text, TextInput } from '@mantine/core';
import { useSearch } from '@tanstack/react-router';
import { useMemo, useState, type ReactNode } from 'react';
import { flushSync } from 'react-dom';
import { text } from '../messages/index.js';
import { useTextInAddress } from './text-in-address.js';

/** Rows shown at first, and added with each step. */
const ROWS = 100;
/** Up to this many rows, no search box is needed. */
const FEW = 10;

interface FoundRows<Item> {
  readonly shown: readonly Item[];
  /** Search box. Empty if there are few rows and nothing was searched for. */
  readonly find: ReactNode;
  /** Button that shows more rows. */
  readonly more: ReactNode;
}

interface FoundRowsOptions<Item> {
  readonly label: string;
  readonly textOf: (item: Item) => string;
  /** Name in the address, so that a form of a found row is still there after a reload. */
  readonly place?: string;
}

/**
 * Filters rows, of which there may be thousands, by text, and shows a hundred at first, since each has its own buttons
 * and forms.
 */
export function useFoundRows<Item>(
  items: readonly Item[],
  { label, textOf, place = 'find' }: FoundRowsOptions<Item>,
): FoundRows<Item> {
  const [wanted, setWanted] = useTextInAddress(place);
  const [rows, setRows] = useState(ROWS);
  const looked = wanted.trim().toLowerCase();
  // The box stays while somebody empties it.
  const [wasLooked, setWasLooked] = useState(looked !== '');
  const named = useNamedByForm();
  // `textOf` is not a dependency: all its versions do the same.
  const found = useMemo(
    () => (looked === '' ? items : items.filter((item) => textOf(item).toLowerCase().includes(looked))),
    [items, looked],
  );
  return {
    shown: found.filter((item, index) => index < rows || isNamed(item, named)),
    find:
      items.length <= FEW && looked === '' && !wasLooked ? null : (
        <>
          <TextInput
            label={label}
            maw={320}
            value={wanted}
            onChange={(event) => {
              setWasLooked(true);
              setWanted(event.currentTarget.value);
            }}
          />
          {found.length === 0 && looked !== '' ? <Text role="status">{text.common.noneFound}</Text> : null}
        </>
      ),
    more:
      found.length <= rows ? null : (
        <Group>
          <Button
            variant="default"
            onClick={(event) => {
              const table = tableBefore(event.currentTarget.parentElement);
              flushSync(() => {
                setRows(rows + ROWS);
              });
              // The button disappears with the last rows, so focus moves to the first new row.
              if (found.length <= rows + ROWS) focusRow(table?.tBodies[0]?.rows[rows]);
            }}
          >
            {text.common.more}
          </Button>
        </Group>
      ),
  };
}

/**
 * Returns the subject of the form in the address at load time, such as `name` in `group:name`: its row is shown
 * wherever it is.
 */
function useNamedByForm(): string | undefined {
  const { form } = useSearch({ strict: false });
  const [named] = useState(() => (typeof form === 'string' ? /:(.*)$/s.exec(form)?.[1] : undefined));
  return named;
}

function isNamed(item: unknown, named: string | undefined): boolean {
  if (named === undefined || typeof item !== 'object' || item === null) return false;
  return ('name' in item && item.name === named) || ('id' in item && item.id === named);
}

function tableBefore(element: Element | null): HTMLTableElement | undefined {
  for (
    let each = element?.previousElementSibling;
    each !== null && each !== undefined;
    each = each.previousElementSibling
  ) {
    const table = each.matches('table') ? each : each.querySelector('table');
    if (table instanceof HTMLTableElement) return table;
  }
  return undefined;
}

function focusRow(row: HTMLElement | undefined): void {
  if (row === undefined) return;
  row.tabIndex = -1;
  row.focus();
}
